"""The release of Ceph that the tests' sandboxes run: the host's, or the one that `npm run test:releases` names."""

import os

VARIABLE = "REPLAY_TEST_RELEASE"
#: A number as text, or `host`.
RELEASE = os.environ.get(VARIABLE, "host")
