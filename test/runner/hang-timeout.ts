// Loaded into every test process. A test file that runs longer than this hangs on something that a test left open: it is
// stopped, and the open resources are printed.
const HANG_TIMEOUT_MS = 5 * 60_000

// The process that starts the test files also loads this module, but runs as long as all of them, so it has no timeout.
if (process.env.NODE_TEST_CONTEXT) {
  setTimeout(() => {
    const openResources = process.getActiveResourcesInfo().join(', ')
    console.error(`test file stopped after ${HANG_TIMEOUT_MS / 60_000} minutes; still open: ${openResources}`)
    process.exit(1)
  }, HANG_TIMEOUT_MS).unref()
}
