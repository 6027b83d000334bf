import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { changeOrigins } from '../../server/embeds/allowed-origins.ts'
import { copyCheckout, NPM_WITHOUT_DOWNLOADS } from '../support/checkout-copy.ts'
import { issueCredential, readPublic } from '../support/issued-credentials.ts'
import { nodeVersions } from '../support/node-versions.ts'
import { aCandidate, createCampaignPartner } from '../support/partners.ts'
import { startReceiver } from '../support/receiver.ts'
import { buildSdk } from '../support/sdk-package.ts'
import { until } from '../support/until.ts'
import { plantRing, verificationCalls } from '../support/verification.ts'
import { readBlocks } from './code-blocks.ts'
import { createKey, enrolPeople, orgIn, pageTests, runShell, startShared } from './page-runner.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

const tests = pageTests({
  'docs/guides/embed-pages.md': async (site) => {
    const { app, orgId } = site
    const origins = ['https://careers.example.com']
    await app.context.db.transaction((tx) => changeOrigins(tx, app.clock, { orgId, mode: 'test' }, origins))
    const partner = await createCampaignPartner(app, { orgId })
    const { mandate_id } = await partner.createMandate()
    await until(async () => (await partner.get(`/mandates/${mandate_id}`)).body.data.status === 'ready')
    await partner.createCampaign(mandate_id, [aCandidate(1)])
    // A result is listed only after the job that contacts the candidate has released it.
    const { result_id, candidate, campaign_id } = await until(
      async () => (await partner.get('/results')).body.data.items[0],
    )
    const sessionKey = await app.fixtures.createSessionKey(orgId, 'test')
    const { id } = await verificationCalls(app, orgId, sessionKey, 'test').openSession()
    return {
      before: [`SESSION_KEY=${sessionKey}`],
      replace: { 'RS_…': result_id, 'CP_…': campaign_id, 'CD_…': candidate.candidate_id, 'SV_…': id },
      output: /"view": "report".*"view": "candidate".*"view":"student"/s,
    }
  },
  'docs/guides/peoples-rights.md': async (site) => {
    const { personId, otherPersonId } = await enrolPeople(site)
    const live = await createKey(site, 'live')
    return {
      env: { ATTESTRY_KEY_ID: live.keyId, ATTESTRY_SECRET: live.secret },
      replace: {
        ...orgIn(site),
        'hold PER_…': `hold ${otherPersonId}`,
        'people erase ': 'people erase --yes ', // otherwise the command asks in the terminal
        'PER_…': personId,
      },
    }
  },
  'docs/guides/question-statistics.md': async (site) => ({
    replace: { ...orgIn(site), ITEM_ID: '$ITEM' },
    before: [
      'ITEM=$(npx attestry items list --skill sk_2001 --json | sed -n \'s/.*"item_id": "\\(.*\\)".*/\\1/p\' | head -n 1)',
      'npx attestry items retire "$ITEM"',
    ],
    output: /restored.*retired/is,
  }),
  'docs/guides/share-and-check-credentials.md': async (site) => {
    const { app, orgId, folder } = site
    const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
    const student = { externalStudentId: 's-2', email: 'person@example.org' }
    const [first, second] = [await issueCredential(calls), await issueCredential(calls, { student })]
    const { credential } = await readPublic(app, second.id)
    writeFileSync(join(folder, 'badge.json'), JSON.stringify(credential))
    const key = await app.fixtures.createSessionKey(orgId)
    return {
      replace: { ...orgIn(site), 'crd_…': first.id, 'CK_…': '$KEY', 'https://verify.example.com': app.url },
      before: [
        `KEY=$(npx attestry credential keys list --org ${orgId} --json | sed -n 's/.*"key_id": "\\(.*\\)".*/\\1/p' | head -n 1)`,
        `session_token=${second.session.token} SESSION_KEY=${key}`,
      ],
      output: /"credentials".*"verdict":"valid".*VALID: /s,
    }
  },
  'docs/guides/use-your-own-questions.md': async (site) => {
    const [file] = readBlocks('docs/guides/use-your-own-questions.md', ['csv'])
    writeFileSync(join(site.folder, 'questions.csv'), file!.text)
    return {
      replace: { ...orgIn(site), '"skill,id,…"': JSON.stringify(file!.text).replaceAll("'", "'\\''") },
      output: /"dry_run": true/,
    }
  },
  'docs/reference/analytics.md': async ({ folder }) => {
    buildSdk(folder)
    return {}
  },
  'docs/reference/credentials.md': async () => ({ env: { SALT: 'salt' }, output: /^[0-9a-f]{64}/ }),
  'docs/reference/endorsement-evidence.md': async (site) => {
    const { app, orgId } = site
    await plantRing(verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId)))
    return {
      replace: { 'RG_…': '$RING' },
      before: [
        `RING=$(npx attestry endorsements rings --detect --mode live --json | sed -n 's/.*"ring_id": "\\(.*\\)".*/\\1/p' | head -n 1)`,
      ],
      output: /is dismissed/,
    }
  },
  'docs/reference/privacy.md': async (site) => ({
    replace: orgIn(site),
    output: /acme\.ndjson/,
  }),
  'examples/python-batch/README.md': async ({ folder }) => {
    for (const name of ['sdks', 'examples']) symlinkSync(join(root, name), join(folder, name))
    return { replace: { ' results.csv': ' results.csv; head -n 3 results.csv' }, output: /completed/ }
  },
})

for (const [name, run] of tests) test(name, run)

test('the blocks of use-the-command-line.md and cli/README.md run', async (t) => {
  const app = await startShared()
  const folder = mkdtempSync(join(tmpdir(), 'attestry-cli-guide-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  copyCheckout(folder)
  symlinkSync(join(root, 'cli'), join(folder, 'cli'))
  const receiver = await startReceiver(t)
  const { orgId, key } = await createCampaignPartner(app)
  const site = { t, app, folder, orgId }
  const live = await createKey(site, 'live')
  for (const node of nodeVersions) {
    const { personId } = await enrolPeople(site)
    const [install, ...blocks] = ['docs/guides/use-the-command-line.md', 'cli/README.md'].flatMap((page) =>
      readBlocks(page).map(({ text }) => text),
    )
    assert.match(install!, /^npm ci\n.*^npm install --global/ms)
    const prefix = join(folder, node.name.replaceAll(' ', '-'))
    const script = [
      NPM_WITHOUT_DOWNLOADS,
      `attestry() {
        case "$*" in
          listen*|logs\\ tail*) timeout --signal=INT 5 ${prefix}/bin/attestry "$@" || test $? = 124 ;;
          *) command attestry "$@" ;;
        esac
      }`,
      install,
      `rm -f export.html; echo ${live.secret} | attestry profile save acme-live --url ${app.url} --key-id ${live.keyId}`,
      ...blocks,
    ].join('\n')
    const text = script
      .replaceAll('https://verify.example.com', app.url)
      .replaceAll('http://localhost:3000/webhooks', receiver.url)
      .replaceAll(`attestry profile save acme-test`, `echo ${key.secret} | attestry profile save acme-test`)
      .replaceAll('VFN_TEST_…', key.keyId)
      .replaceAll('people erase ', 'people erase --yes ')
      .replaceAll('PER_…', personId)
    const env = { npm_config_prefix: prefix, PATH: `${prefix}/bin:${node.path}` }
    const outcome = await runShell(text, folder, env)
    assert.equal(outcome.code, 0, `${node.name}: ${outcome.output}`)
  }
  assert.ok(receiver.received.length > 0, 'listen and trigger forward events')
})
