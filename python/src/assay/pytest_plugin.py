"""The fixture `assay_check`: like `assay.check`, and fails the test with the printed verdict if it is not passed."""
import pytest


@pytest.fixture
def assay_check():
    def checked(function, *args, allow_inconclusive=False, **kwargs):
        import assay

        verdict = assay.check(function, *args, **kwargs)
        if not verdict and not (allow_inconclusive and verdict.status == "inconclusive"):
            pytest.fail(str(verdict), pytrace=False)
        return verdict

    return checked
