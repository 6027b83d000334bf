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
  /** Folder of the SDK, whose README has the commands that install it and that run its tests. TypeScript has a test of its own. */
  folder?: string
  /** Shell commands that run before the SDK's own tests, in a copy of its folder. */
  beforeTests?: string
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
    folder: 'sdks/python',
    fast: true,
  },
  {
    heading: 'Go',
    blockLanguage: 'go',
    file: 'campaign.go',
    needs: { 'Go 1.19': 'go version | grep -Eq "go1[.](19|[2-9][0-9])"' },
    folder: 'sdks/go',
    beforeTests: 'test -z "$(gofmt -l .)"; go vet .',
    fast: false,
  },
  {
    heading: 'Java',
    blockLanguage: 'java',
    file: 'Campaign.java',
    needs: { 'Java 17': 'javac --release 17 --version' },
    folder: 'sdks/java',
    beforeTests: "export JDK_JAVAC_OPTIONS='-Xlint:all,-serial -Werror'",
    fast: false,
  },
  {
    heading: 'PHP',
    blockLanguage: 'php',
    file: 'campaign.php',
    needs: {
      'PHP 8.1 with the extension curl': `php -r 'exit(PHP_VERSION_ID >= 80100 && extension_loaded("curl") ? 0 : 1);'`,
    },
    folder: 'sdks/php',
    fast: true,
  },
]
