import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

test('every command of package.json has a help that names the command or its options', () => {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }
  const tasks = Object.entries(scripts).filter(([, command]) => command.includes('scripts/launch.mjs'))
  assert.ok(tasks.length > 10)
  for (const [name] of tasks) {
    const { status, stdout, stderr } = launch(name, '--help')
    assert.equal(status, 0, `${name} --help: ${stderr}`)
    assert.match(stdout, /^[A-Z]/, name)
    assert.doesNotMatch(stdout, /^\/\//m, name)
    assert.match(stdout, /npm (run |start|test)|--check/, name)
  }
})

test('a script reports an unknown option in one line', () => {
  const { status, stdout, stderr } = launch('sbom', '--chek')
  assert.equal(status, 1)
  assert.equal(stdout, '')
  assert.equal(stderr, `Unknown option '--chek'. "-- --help" lists the options.\n`)
})

function launch(...args: string[]) {
  return spawnSync(process.execPath, ['scripts/launch.mjs', ...args], { cwd: root, encoding: 'utf8' })
}
