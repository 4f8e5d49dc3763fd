"""Ratings of single clips: P.835 and ACR, in the words of the recommendations."""

from __future__ import annotations

from earwitness.listening.kinds.base import Kind, Scale

SIG = Scale(
    "SIG",
    "Attend only to the speech signal. The speech is:",
    (
        "Not distorted",
        "Slightly distorted",
        "Somewhat distorted",
        "Fairly distorted",
        "Very distorted",
    ),
)
BAK = Scale(
    "BAK",
    "Attend only to the background. The background is:",
    (
        "Not noticeable",
        "Slightly noticeable",
        "Noticeable but not intrusive",
        "Somewhat intrusive",
        "Very intrusive",
    ),
)
OVRL = Scale(
    "OVRL",
    "Attend to the whole. The overall quality is:",
    ("Excellent", "Good", "Fair", "Poor", "Bad"),
)
QUALITY = Scale(
    "QUALITY", "The quality of what you heard is:", ("Excellent", "Good", "Fair", "Poor", "Bad")
)
P835 = Kind(
    "p835",
    "P.835: speech, background, whole",
    (SIG, BAK, OVRL),
    (("SIG", "BAK", "OVRL"), ("BAK", "SIG", "OVRL")),
)
ACR = Kind("acr", "Absolute category rating (P.800)", (QUALITY,), (("QUALITY",),))
