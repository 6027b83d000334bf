import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

// Creates the tag of a release, whose notes are the section of the changelog.
//   npm run tag-release              creates the annotated tag vVERSION of the version in package.json; does not push it
//   npm run tag-release -- --notes   only prints the notes

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options } = parseArgs({ options: { notes: { type: 'boolean', default: false } } })

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const tag = `v${version}`
const notes = findNotes(version)
if (options.notes) console.log(notes)
else createTag()

/** Returns the section of a version in the changelog, without its heading. */
function findNotes(name: string): string {
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m)
  const section = sections.find((text) => text.split('\n', 1)[0]!.split(' ')[0] === name)
  if (section === undefined)
    fail(`CHANGELOG.md has no section ${name}; rename "Unreleased" to the version and the date`)
  const text = section.slice(section.indexOf('\n')).trim()
  if (text === '') fail(`section ${name} of CHANGELOG.md is empty; add the release notes`)
  return text
}

function createTag(): void {
  if (git(['status', '--porcelain']) !== '') fail('there are uncommitted changes; commit them first')
  if (git(['tag', '--list', tag]) !== '') fail(`the tag ${tag} already exists; set the next version in package.json`)
  // Without this option, git would remove the headings of the notes, which start with "#".
  git(['tag', '--annotate', '--cleanup=verbatim', '--file=-', tag], `Attestry ${version}\n\n${notes}\n`)
  console.log(`Created ${tag}. To publish it, run: git push origin ${tag}`)
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
