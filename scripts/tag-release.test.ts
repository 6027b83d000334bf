import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Cleanup, oncePerFile } from '../test/support/cleanup.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version: currentVersion } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const nextVersion = `${Number(currentVersion.split('.')[0]) + 1}.0.0`

test('one command sets the version, dates the changelog, stores the API descriptions, and creates the tag with the notes', async () => {
  const { git, tagRelease, read, write } = await openCopy()
  const notes = '### Added\n\n- **Clocks.** See `docs/`.\n\n### Fixed\n\n- A fault.'
  write('CHANGELOG.md', `# Changelog\n\n## Unreleased\n\n${notes}\n\n## ${currentVersion}\n\n- The first release.\n`)
  write('openapi/released/partner.json', '{}\n')
  write('openapi/released/accepted-changes.json', '[{ "api": "partner", "change": "x", "reason": "y" }]\n')
  git('commit', '--all', '--quiet', '--message', 'changelog: describe the changes')

  const { status, stdout, stderr } = tagRelease(nextVersion)

  assert.equal(status, 0, stderr)
  assert.ok(stdout.includes(`git push --atomic origin HEAD v${nextVersion} sdks/go/v${nextVersion}`), stdout)
  assert.equal(git('cat-file', '-t', `v${nextVersion}`), 'tag')
  assert.equal(git('tag', '--list', '--format=%(contents)', `v${nextVersion}`), `Attestry ${nextVersion}\n\n${notes}`)
  assert.equal(
    git('rev-parse', `v${nextVersion}^{commit}`, `sdks/go/v${nextVersion}^{commit}`),
    `${git('rev-parse', 'HEAD')}\n${git('rev-parse', 'HEAD')}`,
  )
  assert.equal(git('status', '--porcelain'), '')
  assert.match(
    read('CHANGELOG.md'),
    new RegExp(`^## Unreleased\n\n## ${nextVersion} - \\d{4}-\\d\\d-\\d\\d\n\n### Added$`, 'm'),
  )
  const filesWithVersion = git('grep', '--name-only', '--fixed-strings', nextVersion).split('\n')
  for (const file of [
    'package.json',
    'package-lock.json',
    'sdk/package.json',
    'cli/package.json',
    'openapi/partner.json',
  ])
    assert.ok(filesWithVersion.includes(file), file)
  for (const language of ['go', 'java', 'php', 'python'])
    assert.ok(
      filesWithVersion.some((file) => file.startsWith(`sdks/${language}/`)),
      language,
    )
  const { version, packages } = JSON.parse(read('package-lock.json'))
  assert.deepEqual([version, packages[''].version, packages.sdk.version], Array(3).fill(nextVersion))
  assert.ok(Object.keys(JSON.parse(read('openapi/released/partner.json')).paths).length > 10)
  for (const api of ['partner', 'verification', 'catalogue'])
    assert.equal(JSON.parse(read(`openapi/${api}.json`)).info.version, nextVersion, api)
  assert.equal(read('openapi/released/accepted-changes.json'), '[]\n')

  assert.match(tagRelease(nextVersion).stderr, /name a version that is higher than/)
  assert.match(tagRelease('--notes').stdout, /^### Added\n/)
})

test('no release is made of an incomplete state, and nothing is changed', async () => {
  const { git, tagRelease, read, write } = await openCopy()
  const commit = () => git('commit', '--all', '--quiet', '--message', 'test: change a file')
  const changelog = read('CHANGELOG.md')
  const assertRejected = (version: string | undefined, message: RegExp) => {
    const [head, changes] = [git('rev-parse', 'HEAD'), git('status', '--porcelain')]
    const { status, stderr } = tagRelease(...(version ? [version] : []))
    assert.match(stderr, message)
    assert.deepEqual([status, git('rev-parse', 'HEAD'), git('status', '--porcelain')], [1, head, changes])
  }
  for (const version of [undefined, 'next', '1.0', currentVersion, '0.0.9'])
    assertRejected(version, /^attestry: name a version that is higher than \d+\.\d+\.\d+, for example: npm run/)

  write('CHANGELOG.md', `${changelog}\n`)
  assertRejected('80.0.0', /there are uncommitted changes/)
  write('CHANGELOG.md', `# Changelog\n\n## Unreleased\n\n## ${currentVersion}\n\n- The first release.\n`)
  commit()
  assertRejected('80.0.0', /section Unreleased of CHANGELOG\.md is empty/)
  write('CHANGELOG.md', `# Changelog\n\n## ${currentVersion}\n\n- The first release.\n`)
  commit()
  assertRejected('80.0.0', /CHANGELOG\.md has no section Unreleased/)
  // After a release, the section of the next one is empty.
  write('CHANGELOG.md', changelog.replace('## Unreleased\n', '## Unreleased\n\n- A change.\n'))
  write('sdks/php/src/Client.php', '<?php\n')
  commit()
  assertRejected('80.0.0', /sdks\/php\/src\/Client\.php does not contain "VERSION = '/)
  git('tag', 'v90.0.0')
  assertRejected('90.0.0', /the tag v90\.0\.0 already exists/)
})

test('the tags of a release that was merged without them are created on its commit', async () => {
  const { git, tagRelease, write } = await openCopy()
  const tags = [`v${currentVersion}`, `sdks/go/v${currentVersion}`] as const
  assert.match(tagRelease('--tag').stderr, /^attestry: this branch has no commit "release: version /)
  const notes = '### Added\n\n- **Clocks.**'
  write('CHANGELOG.md', `# Changelog\n\n## Unreleased\n\n## ${currentVersion} - 2026-11-18\n\n${notes}\n`)
  git('commit', '--all', '--quiet', '--message', `release: version ${currentVersion} (#12)`)
  const releaseCommit = git('rev-parse', 'HEAD')
  git('commit', '--allow-empty', '--quiet', '--message', `docs: explain release: version ${currentVersion}`)

  const { status, stdout, stderr } = tagRelease('--tag')

  assert.equal(status, 0, stderr)
  assert.ok(stdout.includes(`git push --atomic origin ${tags.join(' ')}`), stdout)
  for (const tag of tags) {
    assert.equal(git('rev-parse', `${tag}^{commit}`), releaseCommit)
    assert.equal(git('tag', '--list', '--format=%(contents)', tag), `Attestry ${currentVersion}\n\n${notes}`)
  }
  assert.match(tagRelease('--tag').stderr, /^attestry: the tags of \S+ already exist/)
  git('tag', '--delete', ...tags)
})

test('the changelog of this checkout has notes for its version', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'scripts/tag-release.ts'), '--notes'], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^\S/)
})

const getCopy = oncePerFile(copyRepository)

/** Returns a repository with a copy of this checkout, without the changes of other tests. */
async function openCopy() {
  const copy = await getCopy()
  copy.git('reset', '--quiet', '--hard', 'checkout')
  return copy
}

async function copyRepository(t: Cleanup) {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-tag-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    ...{ GIT_AUTHOR_NAME: 'Asha', GIT_AUTHOR_EMAIL: 'asha@example.com' },
    ...{ GIT_COMMITTER_NAME: 'Asha', GIT_COMMITTER_EMAIL: 'asha@example.com' },
  }
  const runIn = (cwd: string, command: string, args: string[]) => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8', maxBuffer: 2 ** 26 })
    return { status, stdout, stderr }
  }
  const git = (...args: string[]) => {
    const { status, stdout, stderr } = runIn(folder, 'git', args)
    assert.equal(status, 0, stderr)
    return stdout.trim()
  }
  // The checkout may belong to another user, as in a container.
  const listArgs = ['-c', 'safe.directory=*', 'ls-files', '--cached', '--others', '--exclude-standard', '-z']
  const listed = runIn(root, 'git', listArgs)
  assert.equal(listed.status, 0, listed.stderr)
  for (const file of listed.stdout.split('\0').filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  git('init', '--quiet')
  writeFileSync(join(folder, '.git/info/exclude'), 'node_modules\n')
  git('add', '.')
  git('commit', '--quiet', '--message', 'test: copy the checkout')
  git('tag', 'checkout')
  return {
    git,
    read: (file: string) => readFileSync(join(folder, file), 'utf8'),
    write: (file: string, text: string) => writeFileSync(join(folder, file), text),
    tagRelease: (...args: string[]) => runIn(folder, process.execPath, ['scripts/tag-release.ts', ...args]),
  }
}

test('--help prints the usage, and an unknown option names it without a stack trace', async () => {
  const { tagRelease } = await openCopy()
  const help = tagRelease('--help')
  assert.deepEqual([help.status, help.stderr], [0, ''])
  assert.match(help.stdout, /^Usage: npm run tag-release -- VERSION/)
  const unknown = tagRelease('--tags')
  assert.equal(unknown.status, 1)
  assert.match(unknown.stderr, /^attestry: Unknown option '--tags'\n\nUsage: /)
})
