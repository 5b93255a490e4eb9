"""Labels that try everything, and a visit to a report in a browser without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

HOSTILE_ITEMS = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "🍌 banana <!-- ",
    "مرحبا بالعالم",
    "quote \" ' &amp; &lt;b&gt;",
    '=HYPERLINK("http://example.org")',
    "line\u2028separator ${alert(3)} `x`",
    "$\\alpha$ " + "very " * 40 + "long",
)
HOSTILE_ANNOTATORS = (
    "<b>bold</b>",
    "</script><script>alert(4)</script>",
    "👩‍🔬 Ada",
    "דוד",
    "@name{safe}",
)


class Visit:
    """An open report, and everything it said or asked for that it should not."""

    def __init__(self, browser: Any, report: Path, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.context.route("**/*", self._answer)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._hear)
        self.page.on("dialog", self._refuse)
        self.page.goto(report.as_uri())
        self.page.wait_for_selector("html[data-ready]", timeout=60_000)

    def _answer(self, route: Any) -> None:
        self.requests.append(route.request.url)
        if route.request.url.startswith("file:"):
            route.continue_()
        else:
            route.abort()

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()
