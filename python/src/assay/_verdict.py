"""The verdict on one function: a value that is true if it passed and prints as a few lines."""
import dataclasses
import html
from typing import Optional


@dataclasses.dataclass(frozen=True)
class Verdict:
    name: str  # of the function
    status: str  # "passed", "failed", "inconclusive", "crashed", or why nothing was judged, as docs/json.md lists it
    profile: str
    compiler: str  # who computed the result
    detail: str  # why not passed
    elements: int  # of all outputs
    wrong: int
    undecided: int
    forced: int  # elements with exactly one right answer
    bound_used: float  # largest deviation as a part of what is allowed
    folder: Optional[str]
    record: dict  # what `assay check --json` said of the module
    cuts: Optional[dict] = None  # what was captured, where the program was judged stretch by stretch

    @classmethod
    def from_records(cls, records, name, profile, compiler, folder):
        modules = [record for record in records if record.get("type") == "module"]
        record = modules[0] if modules else {}
        subjects = record.get("subjects", [])
        order = {"crashed": 5, "failed": 4, "timed out": 3, "rejected": 2, "inconclusive": 1}
        # Of two that are open, the one that was judged by cuts says why.
        worst = max(subjects, key=lambda subject: (order.get(subject.get("status"), 0), bool(subject.get("cuts"))), default={})
        return cls(
            name=name,
            status=record.get("status", "unreadable"),
            profile=profile,
            compiler=compiler,
            detail=worst.get("detail") or record.get("detail", ""),
            elements=worst.get("elements", 0),
            wrong=worst.get("failed", 0),
            undecided=worst.get("inconclusive", 0),
            forced=worst.get("forced", 0),
            bound_used=worst.get("bound_used", 0.0),
            folder=str(folder) if folder is not None else None,
            record=record,
            cuts=next((subject["cuts"] for subject in subjects if subject.get("cuts")), None),
        )

    @property
    def passed(self):
        return self.status == "passed"

    @property
    def failed(self):
        """True if an answer is wrong or the compiler crashed; false if it could not be judged."""
        return self.status in ("failed", "crashed")

    def __bool__(self):
        return self.passed

    def __str__(self):
        lines = [f"{self.status}: {self.name} on {self.compiler}, judged by profile {self.profile}"]
        if self.elements:
            noun = "element" if self.elements == 1 else "elements"
            counts = f"  {self.elements:,} {noun}: {self.wrong:,} wrong, {self.undecided:,} undecided"
            lines.append(f"{counts}, {self.forced:,} with exactly one right answer")
        if self.passed and self.cuts:
            captured = f"{self.cuts['captures']:,} arrays seen inside, {self.cuts['elements']:,} elements"
            lines.append(f"  judged stretch by stretch: {captured}, {self.cuts['undecided']:,} undecided")
        elif self.passed and self.forced < self.elements:
            lines.append(f"  the largest deviation is {self.bound_used:.0%} of what is allowed")
        if "python_cpu_callback" in self.detail or "python_gpu_callback" in self.detail:
            lines.append("  the function calls back into Python (jax.debug.print, pure_callback), which the oracle cannot;")
            lines.append("  check it without the callback")
        lines.extend(f"  {line}" for line in self.detail.splitlines())
        if self.folder:
            lines.append(f"  kept in {self.folder}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self):
        colour = "#1a7f37" if self.passed else "#cf222e" if self.failed else "#9a6700"
        first, _, rest = str(self).partition("\n")
        return f'<pre><b style="color:{colour}">{html.escape(first)}</b>\n{html.escape(rest)}</pre>'
