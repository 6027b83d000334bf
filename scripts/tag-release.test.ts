import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

const CHANGELOG = `# Changelog

## Unreleased

### Added

- Not yet released.

## 0.2.0 - 2027-01-15

### Added

- **Clocks.** See \`docs/\`.

### Fixed

- A fault.

## 0.1.0

- The first release.
`

test('the tag of a release has the notes of the changelog', (t) => {
  const { git, tagRelease } = createRepository(t, '0.2.0')
  const created = tagRelease()
  assert.equal(created.status, 0, created.stderr)
  assert.match(created.stdout, /^Created v0\.2\.0\. To publish it, run: git push origin v0\.2\.0$/m)
  assert.equal(git('cat-file', '-t', 'v0.2.0'), 'tag')
  assert.equal(
    git('tag', '--list', '--format=%(contents)', 'v0.2.0'),
    'Attestry 0.2.0\n\n### Added\n\n- **Clocks.** See `docs/`.\n\n### Fixed\n\n- A fault.',
  )
  assert.match(tagRelease().stderr, /the tag v0\.2\.0 already exists/)
})

test('no tag is created for a version without notes or with uncommitted changes', (t) => {
  const missing = createRepository(t, '0.3.0')
  assert.match(missing.tagRelease().stderr, /CHANGELOG\.md has no section 0\.3\.0; rename "Unreleased"/)
  const changed = createRepository(t, '0.2.0')
  writeFileSync(join(changed.folder, 'new-file'), '')
  const rejected = changed.tagRelease()
  assert.deepEqual([rejected.status, changed.git('tag')], [1, ''])
  assert.match(rejected.stderr, /uncommitted changes/)
})

test('the changelog of this checkout has notes for its version', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'scripts/tag-release.ts'), '--notes'], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^\S/)
})

/** Creates a repository with a version, a changelog and the script. */
function createRepository(t: TestContext, version: string) {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-tag-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'scripts'))
  cpSync(join(root, 'scripts/tag-release.ts'), join(folder, 'scripts/tag-release.ts'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version, type: 'module' }))
  writeFileSync(join(folder, 'CHANGELOG.md'), CHANGELOG)
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    ...{ GIT_AUTHOR_NAME: 'Asha', GIT_AUTHOR_EMAIL: 'asha@example.com' },
    ...{ GIT_COMMITTER_NAME: 'Asha', GIT_COMMITTER_EMAIL: 'asha@example.com' },
  }
  const run = (command: string, args: string[]) => spawnSync(command, args, { cwd: folder, env, encoding: 'utf8' })
  const git = (...args: string[]) => {
    const { status, stdout, stderr } = run('git', args)
    assert.equal(status, 0, stderr)
    return stdout.trim()
  }
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'release')
  return { folder, git, tagRelease: () => run(process.execPath, ['scripts/tag-release.ts']) }
}
