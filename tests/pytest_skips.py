"""A file of which every test is skipped counts as skipped, with its reason, and neither as passed nor as failed."""
SKIPPED = 77  # as ctest's SKIP_RETURN_CODE


def _skips(session):
    """Why each test was skipped, if no test ran."""
    stats = session.config.pluginmanager.get_plugin("terminalreporter").stats
    if any(stats.get(outcome) for outcome in ("passed", "failed", "error", "xfailed", "xpassed")):
        return []
    return [report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            for report in stats.get("skipped", [])]


def pytest_sessionfinish(session, exitstatus):
    reasons = _skips(session)
    if reasons:
        print(f"\nskipped: {reasons[0].removeprefix('Skipped: ')}")
        session.exitstatus = SKIPPED
