"""What the paper printed: means and standard deviations over 20 repeats, and running times."""

from __future__ import annotations

from dataclasses import dataclass

N_REPEATS = 20


@dataclass(frozen=True)
class Published:
    """Mean mismatch ratio of a method, and its standard deviation over the repeats."""

    mean: float
    std: float | None

    @property
    def standard_error(self) -> float:
        """Of the mean; 0 where the standard deviation is not known."""
        return 0.0 if self.std is None else self.std / N_REPEATS**0.5


# Table 6 prints RankNet's mean again where its standard deviation should be.
PUBLISHED: dict[str, dict[str, Published]] = {
    "table1": {
        "ranksvm": Published(0.3165, 0.075),
        "rankboost": Published(0.3415, 0.069),
        "ranknet": Published(0.3213, 0.074),
        "gbdt": Published(0.3241, 0.0767),
        "dart": Published(0.3235, 0.0732),
        "urlr": Published(0.3198, 0.0726),
        "hodgerank": Published(0.3097, 0.076),
        "multi-level-linear": Published(0.1892, 0.0264),
        "multi-level-bradley-terry": Published(0.1799, 0.0303),
        "multi-level-thurstone-mosteller": Published(0.1822, 0.0297),
    },
    "table2": {
        "ranksvm": Published(0.4538, 0.0515),
        "rankboost": Published(0.4663, 0.0267),
        "ranknet": Published(0.4585, 0.0221),
        "gbdt": Published(0.4215, 0.0453),
        "dart": Published(0.4335, 0.0487),
        "urlr": Published(0.4409, 0.023),
        "hodgerank": Published(0.4361, 0.0196),
        "multi-level-linear": Published(0.3316, 0.0105),
        "multi-level-bradley-terry": Published(0.3278, 0.0117),
        "multi-level-thurstone-mosteller": Published(0.3291, 0.0113),
    },
    "table4": {
        "ranksvm": Published(0.1627, 0.0145),
        "rankboost": Published(0.1727, 0.0107),
        "ranknet": Published(0.226, 0.0136),
        "gbdt": Published(0.1491, 0.0102),
        "dart": Published(0.1532, 0.0113),
        "urlr": Published(0.214, 0.0177),
        "hodgerank": Published(0.1874, 0.0081),
        "multi-level-linear": Published(0.1094, 0.0065),
        "multi-level-bradley-terry": Published(0.0708, 0.0054),
        "multi-level-thurstone-mosteller": Published(0.0731, 0.0057),
    },
    "table6": {
        "ranksvm": Published(0.3165, 0.0068),
        "rankboost": Published(0.3321, 0.0073),
        "ranknet": Published(0.3533, None),
        "gbdt": Published(0.3579, 0.0086),
        "dart": Published(0.3716, 0.0134),
        "urlr": Published(0.3136, 0.0075),
        "hodgerank": Published(0.3108, 0.0097),
        "multi-level-linear": Published(0.267, 0.0071),
        "multi-level-bradley-terry": Published(0.2555, 0.0099),
        "multi-level-thurstone-mosteller": Published(0.2616, 0.0067),
    },
}

# Mean seconds of the authors' C++ on 1 to 16 threads of a Xeon E5-2670, 2.60 GHz.
SECONDS: dict[str, tuple[float, ...]] = {
    "simulated": (
        232.09,
        120.67,
        83.4,
        62.7,
        51.15,
        42.04,
        37.27,
        34.6,
        29.38,
        26.8,
        25.27,
        24.05,
        22.55,
        20.84,
        20.23,
        20.24,
    ),
    "movies": (
        629.66,
        326.75,
        220.81,
        164.83,
        134.05,
        107.34,
        94.67,
        83.79,
        72.61,
        64.93,
        60.74,
        54.85,
        53.22,
        48.5,
        47.91,
        43.75,
    ),
    "IQA": (
        57.38,
        29.98,
        20.99,
        16.11,
        13.06,
        11.16,
        9.69,
        8.82,
        7.54,
        7.0,
        6.4,
        6.11,
        5.97,
        5.76,
        5.53,
        5.29,
    ),
    "WorldCollege": (
        221.07,
        114.99,
        78.4,
        58.09,
        47.8,
        38.21,
        33.54,
        29.6,
        25.65,
        22.9,
        21.42,
        19.69,
        18.92,
        17.55,
        16.83,
        15.51,
    ),
}
