// Loaded into every test process. A test file that runs longer than this hangs on something that a test left open: it is
// stopped, and the open resources are printed.
const HANG_TIMEOUT_MS = 5 * 60_000

// The process that starts the files also loads this, and runs as long as all of them.
if (process.env.NODE_TEST_CONTEXT) {
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    console.error(`test file stopped after ${HANG_TIMEOUT_MS / 60_000} minutes; still open: ${open}`)
    process.exit(1)
  }, HANG_TIMEOUT_MS).unref()
}
