// Loaded into every test file. A file that is still there after five minutes hangs on something a test left open: it is ended
// and says on what, rather than holding up the run for ever.
const limit = 5 * 60_000

// The runner that starts the files loads this too, and may take as long as all of them take.
if (process.env.NODE_TEST_CONTEXT) {
  setTimeout(() => {
    console.error(`ended after ${limit / 60_000} minutes; still open: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit(1)
  }, limit).unref()
}
