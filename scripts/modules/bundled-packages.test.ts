import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { nodeOptions } from '../../test/support/node-options.ts'
import { BUNDLED_IMPORTS } from './bundled-packages.mjs'

test('tests and the processes that they start load bundled packages, with the exports of the originals', () => {
  const program = `
    const modules = {}
    for (const name of ${JSON.stringify(BUNDLED_IMPORTS)})
      modules[name] = { url: import.meta.resolve(name), names: Object.keys(await import(name)).sort() }
    console.log(JSON.stringify(modules))`
  const load = (options: string[]): Record<string, { url: string; names: string[] }> => {
    const args = [...options, '--input-type=module', '--eval', program]
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.ok(stdout, stderr)
    return JSON.parse(stdout)
  }
  const [bundled, original] = [load(nodeOptions), load([])]
  for (const name of BUNDLED_IMPORTS) {
    assert.match(bundled[name]!.url, /\/attestry-packages\//)
    assert.match(original[name]!.url, /\/node_modules\/(kysely|typebox)\//)
    assert.ok(original[name]!.names.length > 0)
    assert.deepEqual(bundled[name]!.names, original[name]!.names)
  }
  assert.equal(import.meta.resolve('typebox'), bundled.typebox!.url)
})
