import assert from 'node:assert/strict'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildSdk } from '../support/sdk-package.ts'
import { createFolder, findInlineCommand, path, runCampaign, runScript } from './guide-program.ts'
import { languages } from './languages.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const packagesOfRuntimes = join(root, 'test/sdks/runtimes/node_modules')

/** Runtimes other than Node.js that run the TypeScript SDK, with the commands of the guide. `npm ci` in test/sdks/runtimes/ installs them. */
const runtimes = [
  {
    name: 'Deno',
    programs: ['linux-arm64-glibc', 'linux-x64-glibc'].map((name) => join(packagesOfRuntimes, '@deno', name, 'deno')),
    command: findInlineCommand('deno run'),
  },
  {
    name: 'Bun',
    programs: ['linux-aarch64', 'linux-x64'].map((name) => join(packagesOfRuntimes, `@oven/bun-${name}/bin/bun`)),
    command: findInlineCommand('bun'),
  },
]

/** Prints the name of the runtime and the numbers of vectors, or fails at the first vector whose outcome differs. */
const VECTOR_PROGRAM = `
import { readFileSync } from 'node:fs'
import { linesToSign, sign, verifyWebhook, WebhookVerificationError } from '@attestry/sdk'
const { requests, webhooks } = JSON.parse(readFileSync('vectors.json', 'utf8'))
for (const { name, on_behalf_of, idempotency_key, lines, signature, ...input } of requests) {
  const request = { ...input, onBehalfOf: on_behalf_of, idempotencyKey: idempotency_key }
  if ((await linesToSign(request)) !== lines || (await sign(request)) !== signature) throw new Error(name)
}
for (const { name, valid, secret, now, headers, body } of webhooks) {
  const verified = await verifyWebhook(body, headers, secret, { now }).then(() => true, (error) => {
    if (!(error instanceof WebhookVerificationError)) throw error
    return false
  })
  if (verified !== valid) throw new Error(name)
}
console.log(globalThis.Deno ? 'Deno' : globalThis.Bun ? 'Bun' : 'Node.js', requests.length, webhooks.length)
`

const runsSlowTests = process.env.TEST_SLOW_SDKS === '1'

for (const { name, command, programs } of runtimes) {
  const program = programs.find((file) => existsSync(file))
  const skip = program
    ? !runsSlowTests && 'runs in npm run verify'
    : `${name} is not installed: run npm ci --prefix test/sdks/runtimes`
  const runtimePath = program ? [dirname(program), path].join(delimiter) : path

  test(`TypeScript in ${name}: the SDK passes the vectors of signatures and webhooks`, { skip }, async (t) => {
    const folder = createFolder(t)
    writeFileSync(join(folder, 'package.json'), '{ "dependencies": { "@attestry/sdk": "*" } }')
    buildSdk(folder)
    cpSync(join(root, 'sdks/vectors.json'), join(folder, 'vectors.json'))
    writeFileSync(join(folder, 'vectors.mjs'), VECTOR_PROGRAM)
    const outcome = await runScript(t, folder, command.replace('campaign.mjs', 'vectors.mjs'), { PATH: runtimePath })
    assert.equal(outcome.code, 0, outcome.output)
    const { requests, webhooks } = JSON.parse(readFileSync(join(root, 'sdks/vectors.json'), 'utf8'))
    assert.match(outcome.output, new RegExp(`^${name} ${requests.length} ${webhooks.length}$`, 'm'))
  })

  test(`TypeScript in ${name}: the program of the guide runs a campaign and verifies its webhooks`, { skip }, (t) =>
    runCampaign(t, languages.find(({ heading }) => heading === 'TypeScript')!, { command, runtimePath }),
  )
}
