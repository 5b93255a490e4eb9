"""Why an annotator stands out: tests, verdicts with their evidence, personal leaderboards."""

from prefpath.diagnose.diagnosis import Diagnosis, diagnose
from prefpath.diagnose.discovery import Discoveries, discover
from prefpath.diagnose.entry import EntryCutoff, calibrated_entry
from prefpath.diagnose.personal import PersonalRanking, personal_ranking
from prefpath.diagnose.verdicts import VERDICTS, Verdict

__all__ = [
    "VERDICTS",
    "Diagnosis",
    "Discoveries",
    "EntryCutoff",
    "PersonalRanking",
    "Verdict",
    "calibrated_entry",
    "diagnose",
    "discover",
    "personal_ranking",
]
