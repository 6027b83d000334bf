import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { grantCredits } from '../../server/campaigns/credits.ts'
import { ADMIN_KEY, prepareMandates, startApp } from '../support/app.ts'
import { runClock } from '../support/clock.ts'
import { nodeOptions } from '../support/node-options.ts'
import { createPartner } from '../support/partners.ts'
import { assertBlocksRun } from './code-blocks.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Returns the concatenated sections of a guide whose heading matches. */
export function readSections(guide: string, headings: RegExp): string {
  const text = readFileSync(join(root, 'docs/guides', guide), 'utf8')
  return text
    .split(/^## /m)
    .filter((part) => headings.test(part))
    .join('')
}

/** Returns the shell commands of the matching sections. */
export function readCommands(guide: string, headings: RegExp): string[] {
  return [...readSections(guide, headings).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!)
}

/** Starts a server with a TEST key, and runs the commands of a guide in a shell as a reader would. */
export async function startGuideRunner(
  t: TestContext,
  guide: string,
  options: { worker?: boolean; ranElsewhere?: string[] } = {},
) {
  const app = await startApp(t, options)
  app.clock.set(Date.now())
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const { databaseUrl, masterKey } = app.context.config
  // The key has high rate limits, because a test sends commands faster than a reader.
  const { key } = await createPartner(app, 'test', orgId)
  await app.context.db.transaction((tx) => grantCredits(tx, { orgId, mode: 'test' }, app.clock, 1000))
  const folder = mkdtempSync(join(tmpdir(), 'attestry-guide-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, '.attestry'))
  writeFileSync(join(folder, '.attestry/admin-api-key'), ADMIN_KEY)
  const demoKeys = { session_key: await app.fixtures.createSessionKey(orgId, 'test') }
  writeFileSync(join(folder, '.attestry/demo-keys.json'), JSON.stringify(demoKeys, null, 2))
  const ranBlocks = [...(options.ranElsewhere ?? [])]
  const program = [process.execPath, ...nodeOptions, join(root, 'cli/main.ts')]
    .map((part) => JSON.stringify(part))
    .join(' ')
  // `listen` runs in the background: with exec, the ID of the job is that of the program.
  const npxFunction = `npx() { shift; if [ "$1" = listen ]; then exec ${program} "$@"; fi; ${program} "$@"; }`
  return {
    /** Runs the commands, among them blocks with other values; returns their output, the last JSON in it, and the variables that they set. */
    async run(lines: string[], variables: string[], changedBlocks: string[] = []) {
      ranBlocks.push(...lines, ...changedBlocks)
      const printVariables = variables.map((name) => `echo "${name}=$${name}" >&2`)
      const script = [npxFunction, ...lines, ...printVariables].join('\n').replaceAll('http://127.0.0.1:8080', app.url)
      const child = spawn('bash', ['-euc', script], {
        cwd: folder,
        env: {
          ...process.env,
          ...{ ATTESTRY_URL: app.url, ATTESTRY_KEY_ID: key.keyId, ATTESTRY_SECRET: key.secret },
          ...{ DATABASE_URL: databaseUrl, MASTER_KEY: masterKey!.toString('base64'), ADMIN_API_KEY: ADMIN_KEY },
          TMPDIR: folder, // files of mktemp are removed with it
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let [out, err] = ['', '']
      child.stdout.on('data', (chunk) => {
        out += chunk
      })
      child.stderr.on('data', (chunk) => {
        err += chunk
      })
      const [code] = await once(child, 'close')
      assert.equal(code, 0, out + err)
      const variableValues = Object.fromEntries(
        [...err.matchAll(/^([A-Z]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
      )
      return {
        out,
        variableValues,
        get last() {
          return JSON.parse(out.slice(out.lastIndexOf('\n{') + 1))
        },
      }
    },
    assertAllBlocksRan: () => assertBlocksRun(`docs/guides/${guide}`, ranBlocks),
    prepare: () => prepareMandates(app.context),
    context: app.context,
  }
}
