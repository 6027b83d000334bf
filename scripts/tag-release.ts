import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

// Makes a release: sets the version everywhere, dates the changelog, stores the API descriptions that later versions are compared with,
// commits, and creates the tag, whose message is the release notes. Pushes nothing.

const HELP = `Usage: npm run tag-release -- VERSION | --notes | --tag

  VERSION   makes the release VERSION, for example 0.2.0: a commit and its tags
  --notes   prints the notes of the version in package.json
  --tag     creates only the tags of that version, on the commit of its release

Nothing is pushed.`

/** Files with the version of the product, and the texts in which it occurs. */
const VERSION_PLACES: Record<string, string[]> = {
  'package.json': ['"version": "VERSION"'],
  'package-lock.json': [
    '"name": "attestry",\n  "version": "VERSION"',
    '"name": "attestry",\n      "version": "VERSION"',
    '"name": "@attestry/sdk",\n      "version": "VERSION"',
  ],
  'cli/package.json': ['"version": "VERSION"'],
  'sdk/package.json': ['"version": "VERSION"'],
  'sdk/README.md': ['attestry-sdk-VERSION.tgz'],
  'sdks/go/client.go': ['const Version = "VERSION"'],
  'sdks/go/README.md': ['sdks/go@vVERSION'],
  'sdks/java/pom.xml': ['<artifactId>attestry</artifactId>\n  <version>VERSION</version>'],
  'sdks/java/README.md': ['<artifactId>attestry</artifactId>\n  <version>VERSION</version>'],
  'sdks/java/src/main/java/io/github/attestry/AttestryClient.java': ['VERSION = "VERSION"'],
  'sdks/php/src/Client.php': ["VERSION = 'VERSION'"],
  'sdks/python/pyproject.toml': ['\nversion = "VERSION"\n'],
  'sdks/python/src/attestry/__init__.py': ['__version__ = "VERSION"'],
  'deploy/helm/attestry/Chart.yaml': ['\nversion: VERSION\n', '\nappVersion: VERSION\n'],
  'docs/guides/run-with-compose.md': ['/attestry:VERSION ', '/attestry-VERSION.tar.gz', '/attestry-VERSION/'],
  'docs/guides/run-with-systemd.md': ['attestry-VERSION.tar.gz', '/opt/attestry-VERSION '],
  'docs/guides/use-an-sdk.md': ['attestry-sdk-VERSION.tgz', 'sdks/go@vVERSION', 'attestry:attestry:VERSION'],
  'docs/guides/use-the-command-line.md': ['attestry-cli-VERSION.tgz'],
}
/** Scripts that write files which depend on the version. */
const GENERATORS = [['scripts/openapi.ts', '--release'], ['scripts/sdks.ts'], ['scripts/collections.ts']]

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options, positionals } = readArguments()
const currentVersion: string = JSON.parse(read('package.json')).version

if (options.help) console.log(HELP)
else if (options.notes) console.log(findNotes(currentVersion))
else if (options.tag) tagExistingRelease()
else makeRelease(positionals[0])

function readArguments() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        notes: { type: 'boolean', default: false },
        tag: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    })
  } catch (error) {
    return fail(`${(error as Error).message.split('. ')[0]}\n\n${HELP}`)
  }
}

function makeRelease(version: string | undefined): void {
  if (version === undefined || !isHigherVersion(version))
    fail(`name a version that is higher than ${currentVersion}, for example: npm run tag-release -- ${nextMinor()}`)
  if (git(['status', '--porcelain']) !== '') fail('there are uncommitted changes; commit them first')
  const tags = tagNames(version)
  for (const name of tags)
    if (git(['tag', '--list', name]) !== '') fail(`the tag ${name} already exists; name a higher version`)
  const notes = findNotes('Unreleased')

  // Nothing is written before every file was checked.
  const files = new Map([
    ...Object.entries(VERSION_PLACES).map(([file, places]) => setVersion(file, places, version)),
    dateChangelog(version),
    nameUpgradeNotes(version),
  ])
  for (const [file, text] of files) writeFileSync(join(root, file), text)
  for (const args of GENERATORS) {
    const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
    if (status !== 0) fail(`${args.join(' ')} failed; undo the changes with "git restore .", and correct the cause`)
  }
  git(['commit', '--all', '--quiet', '--message', releaseSubject(version)])
  createTags(tags, 'HEAD', version, notes)
  console.log(`Created the commit and the tag ${tags[0]}. Run npm run verify, then publish them:`)
  console.log(`git push --atomic origin HEAD ${tags.join(' ')}`)
}

/**
 * Creates the missing tags of the current version, for a release whose commit was rebased or squashed by a review: its tags name a commit
 * that is not part of the branch, or were never published.
 */
function tagExistingRelease(): void {
  const pattern = `^${releaseSubject(currentVersion).replaceAll('.', '\\.')}\\( (#[0-9]*)\\)\\?$`
  const commit = git(['log', '-1', '--format=%H', `--grep=${pattern}`])
  if (commit === '')
    fail(`this branch has no commit "${releaseSubject(currentVersion)}"; make the release with npm run tag-release`)
  const notes = findNotes(currentVersion)
  const missing = tagNames(currentVersion).filter((name) => git(['tag', '--list', name]) === '')
  if (missing.length === 0) fail(`the tags of ${currentVersion} already exist`)
  createTags(missing, commit, currentVersion, notes)
  console.log(`Created ${missing.join(' and ')} on ${commit.slice(0, 12)}. Publish with:`)
  console.log(`git push --atomic origin ${missing.join(' ')}`)
}

function releaseSubject(version: string): string {
  return `release: version ${version}`
}

/** Go looks for the tag of a module in a folder under the path of the folder. */
function tagNames(version: string): string[] {
  return [`v${version}`, `sdks/go/v${version}`]
}

function createTags(names: string[], commit: string, version: string, notes: string): void {
  // Without the option --cleanup, git would remove the headings of the notes, which start with "#".
  for (const name of names)
    git(['tag', '--annotate', '--cleanup=verbatim', '--file=-', name, commit], `Attestry ${version}\n\n${notes}\n`)
}

/** Returns a section of the changelog without its heading. */
function findNotes(name: string): string {
  const section = read('CHANGELOG.md')
    .split(/^## /m)
    .find((text) => text.split('\n', 1)[0]!.split(' ')[0] === name)
  if (section === undefined) fail(`CHANGELOG.md has no section ${name}`)
  const text = section.slice(section.indexOf('\n')).trim()
  if (text === '') fail(`section ${name} of CHANGELOG.md is empty; add the release notes`)
  return text
}

function setVersion(file: string, places: string[], version: string): [file: string, text: string] {
  let text = read(file)
  for (const place of places) {
    // VERSION is also a name in some of the texts, so only its last occurrence is the version.
    const withVersion = (value: string) => place.replace(/VERSION(?!.*VERSION)/s, value)
    if (!text.includes(withVersion(currentVersion)))
      fail(`${file} does not contain "${withVersion(currentVersion).trim()}"; correct the file, or VERSION_PLACES`)
    text = text.replaceAll(withVersion(currentVersion), withVersion(version))
  }
  return [file, text]
}

/** Moves the unreleased changes to a section with the version and the date, below an empty section for the next changes. */
function dateChangelog(version: string): [file: string, text: string] {
  const today = new Date().toISOString().slice(0, 10)
  const text = read('CHANGELOG.md').replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version} - ${today}`)
  return ['CHANGELOG.md', text]
}

function nameUpgradeNotes(version: string): [file: string, text: string] {
  const file = 'docs/guides/upgrade.md'
  return [file, read(file).replace(/^### Unreleased.*$/m, `### ${version}`)]
}

function isHigherVersion(version: string): boolean {
  if (!/^\d+\.\d+\.\d+$/.test(version)) return false
  const [numbers, current] = [version, currentVersion].map((each) => each.split('.').map(Number)) as [
    number[],
    number[],
  ]
  const index = numbers.findIndex((number, position) => number !== current[position])
  return index >= 0 && numbers[index]! > current[index]!
}

function nextMinor(): string {
  const [major, minor] = currentVersion.split('.')
  return `${major}.${Number(minor) + 1}.0`
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

function git(args: string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, input, encoding: 'utf8' })
  if (status !== 0) fail(`git ${args[0]} failed: ${stderr.trim()}`)
  return stdout.trim()
}

function fail(text: string): never {
  console.error(`attestry: ${text}`)
  process.exit(1)
}
