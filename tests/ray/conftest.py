import os

import pytest

if not os.environ.get("EVALCORE_SITE"):
    pytest.exit("EVALCORE_SITE is not set; run these tests with `scripts/test wheel`", returncode=2)
# Nobody is told of these clusters, and nothing looks for a GPU.
os.environ.update({"RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_IMPORT_WARNING": "1", "RAY_DEDUP_LOGS": "0"})
