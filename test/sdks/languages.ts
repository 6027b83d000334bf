/** An SDK language that the tests can run. */
export interface SdkLanguage {
  /** Heading of its section in docs/guides/use-an-sdk.md. */
  heading: string
  /** Language of the program's code block in the guide. */
  blockLanguage: string
  /** Name under which the guide says to save the program. */
  file: string
  /** Programs that must be installed, each with a shell command that succeeds if it is. */
  needs: Record<string, string>
  /** Shell command that runs the SDK's own tests in the root of the checkout; it may write to `$BUILD_FOLDER` only. */
  unitTests?: string
  /** Whether the tests are fast enough for every `npm test`. The others run in `npm run verify`. */
  fast: boolean
}

/**
 * Languages of the SDKs. For each, the tests run its own tests and the program of the guide, against one server. The program
 * must listen on $PORT, print `webhook verified: TYPE` for each webhook and `CANDIDATE STATUS qualified: …` for each result, and
 * exit with 0.
 */
export const languages: SdkLanguage[] = [
  {
    heading: 'TypeScript',
    blockLanguage: 'js',
    file: 'campaign.mjs',
    needs: { 'Node.js 20': 'test "$(node -p "process.versions.node.split(\'.\')[0] >= 20")" = true' },
    fast: true,
  },
  {
    heading: 'Python',
    blockLanguage: 'python',
    file: 'campaign.py',
    needs: { 'Python 3.9': 'python3 -c "import sys; sys.exit(sys.version_info < (3, 9))"' },
    unitTests: 'PYTHONPATH=sdks/python/src python3 -B -m unittest discover --start-directory sdks/python/tests',
    fast: true,
  },
  {
    heading: 'Go',
    blockLanguage: 'go',
    file: 'campaign.go',
    needs: { 'Go 1.19': 'go version | grep -Eq "go1[.](19|[2-9][0-9])"' },
    unitTests: 'cd sdks/go && test -z "$(gofmt -l .)" && go vet . && go test -count=1 .',
    fast: false,
  },
  {
    heading: 'Java',
    blockLanguage: 'java',
    file: 'Campaign.java',
    needs: { 'Java 17': 'javac --release 17 --version' },
    unitTests: `cd sdks/java && find src -name '*.java' -exec javac -encoding UTF-8 -Xlint:all,-serial -Werror -d "$BUILD_FOLDER" {} + &&
      java -cp "$BUILD_FOLDER" io.github.attestry.AttestryTests`,
    fast: false,
  },
  {
    heading: 'PHP',
    blockLanguage: 'php',
    file: 'campaign.php',
    needs: {
      'PHP 8.1 with the extension curl': `php -r 'exit(PHP_VERSION_ID >= 80100 && extension_loaded("curl") ? 0 : 1);'`,
    },
    unitTests: 'php sdks/php/tests/run.php',
    fast: true,
  },
]
