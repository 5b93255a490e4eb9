"""Why an annotator stands out: tests, verdicts with their evidence, personal leaderboards."""

from prefpath.diagnose.counted import CountedVerdicts
from prefpath.diagnose.diagnosing import diagnose, verdicts_on
from prefpath.diagnose.diagnosis import Diagnosis
from prefpath.diagnose.discoveries import Discoveries
from prefpath.diagnose.discovery import discover
from prefpath.diagnose.entry import EntryCutoff, calibrated_entry
from prefpath.diagnose.headline import Headline
from prefpath.diagnose.own_items import OwnItems, own_items_favoured
from prefpath.diagnose.personal import PersonalRanking, personal_ranking
from prefpath.diagnose.reasons import Verdict
from prefpath.diagnose.verdicts import STANDING_OUT, UNREMARKABLE, VERDICTS

__all__ = [
    "STANDING_OUT",
    "UNREMARKABLE",
    "VERDICTS",
    "CountedVerdicts",
    "Diagnosis",
    "Discoveries",
    "EntryCutoff",
    "Headline",
    "OwnItems",
    "PersonalRanking",
    "Verdict",
    "calibrated_entry",
    "diagnose",
    "discover",
    "own_items_favoured",
    "personal_ranking",
    "verdicts_on",
]
