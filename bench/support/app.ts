import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { AttestryClient } from '../../sdk/index.ts'
import { setKeyLimits } from '../../server/access/key-limits.ts'
import { createPartnerKey, type Mode } from '../../server/access/keys.ts'
import { createOrganisation } from '../../server/access/organisations.ts'
import { allScopes } from '../../server/access/scopes.ts'
import { buildApp } from '../../server/app.ts'
import { grantCredits } from '../../server/campaigns/credits.ts'
import { LoadedSkills } from '../../server/catalogue/loaded-skills.ts'
import { saveCredentials } from '../../server/channels/credentials.ts'
import { readConfig } from '../../server/config.ts'
import type { Context } from '../../server/context.ts'
import { createMandate } from '../../server/mandates/mandates.ts'
import { openContext } from '../../server/open-context.ts'
import { createLog } from '../../server/platform/log.ts'
import { jobs, registerWork } from '../../server/worker.ts'
import { createWorkflow } from '../../server/workflows/workflows.ts'
import { databaseUrl, prepareTemplate, serverUrl, startCluster, TEMPLATE_DATABASE } from '../../test/runner/cluster.ts'
import { prepareMandates, type StartAppOptions, startApp, type TestApp } from '../../test/support/app.ts'
import { type Cleanup, withCleanup } from '../../test/support/cleanup.ts'
import { declareContactBasis, raiseLimits } from '../../test/support/partners.ts'

export interface BenchApp {
  context: Context
  url: string
  /** Database URL that connects as the superuser. */
  postgresUrl: string
  stop(): Promise<void>
}

/** Starts a server in this process on a new embedded database, with background jobs if `worker` is set. */
export async function startBenchApp({ worker = false } = {}): Promise<BenchApp> {
  const cluster = await startCluster()
  await prepareTemplate(cluster.url)
  const postgresUrl = databaseUrl(cluster.url, TEMPLATE_DATABASE)
  const config = readConfig({
    DATABASE_URL: serverUrl(postgresUrl),
    DATABASE_OWNER_URL: postgresUrl,
    ADMIN_API_KEY: 'key-of-the-bench',
    MASTER_KEY: randomBytes(32).toString('base64'),
    PORT: '0',
  })
  const log = createLog('error')
  const { context, close } = await openContext(config, { jobs, log, ...(worker ? { work: registerWork } : {}) })
  const server = buildApp(context)
  await server.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  context.config.publicUrl ??= url
  return {
    context,
    url,
    postgresUrl,
    async stop() {
      await server.close()
      await close()
      await cluster.stop()
    },
  }
}

/** Sets what production uses: every commit waits until the disk has stored it. */
export async function writeToDisk({ db }: Context): Promise<void> {
  await db.asOwner(async ({ pool }) => {
    for (const setting of ['fsync', 'full_page_writes']) await pool.query(`alter system reset ${setting}`)
    await pool.query('select pg_reload_conf()')
  })
}

/** Runs a function with the test server, which has fixtures and a test clock, on a new embedded database. */
export async function withTestApp<T>(
  run: (app: TestApp, t: Cleanup) => Promise<T>,
  options: StartAppOptions = {},
): Promise<T> {
  const cluster = await startCluster()
  try {
    await prepareTemplate(cluster.url)
    process.env.TEST_POSTGRES_URL = cluster.url
    return await withCleanup(async (t) => run(await startApp(t, options), t))
  } finally {
    await cluster.stop()
  }
}

interface BenchKey {
  orgId: string
  keyId: string
  client: AttestryClient
}

/** Creates an organisation and a key with all scopes and with rate limits that no benchmark reaches. */
async function createUnlimitedKey({ context, url }: BenchApp, mode: Mode): Promise<BenchKey> {
  const { db, clock, vault } = context
  const { orgId, key } = await db.transaction(async (tx) => {
    const { org_id } = await createOrganisation(tx, 'Bench', clock)
    return {
      orgId: org_id,
      key: await createPartnerKey(tx, vault, clock, {
        orgId: org_id,
        mode,
        scopes: [...allScopes],
        maxDays: undefined,
      }),
    }
  })
  await raiseLimits(context, key.keyId)
  const client = new AttestryClient({ baseUrl: url, keyId: key.keyId, secret: key.secret })
  return { orgId, keyId: key.keyId, client }
}

export interface CampaignBenchPartner {
  orgId: string
  mode: Mode
  workflowId: string
  mandateId: string
  client: AttestryClient
  /** Sends a signed request and returns the `data` of the response. */
  post(path: string, body: object): Promise<{ campaign: { campaign_id: string } }>
}

/** Creates an organisation with credits, WhatsApp credentials and a prepared mandate. */
export async function createCampaignPartner(app: BenchApp, mode: Mode): Promise<CampaignBenchPartner> {
  const { context } = app
  const { db, clock, vault } = context
  const { orgId, keyId, client } = await createUnlimitedKey(app, mode)
  const scope = { orgId, mode }
  const createdIds = await db.transaction(async (tx) => {
    await setKeyLimits(tx, keyId, { peoplePerDay: 1_000_000 })
    await grantCredits(tx, scope, clock, 1_000_000)
    await saveCredentials(tx, vault, clock, orgId, 'whatsapp', { template: { name: 'bench', languages: ['en'] } })
    await declareContactBasis(tx, clock, orgId)
    const { workflow_id } = await createWorkflow(tx, scope, clock, { name: 'Bench' }, 'api')
    const deps = { clock, skills: new LoadedSkills(context.catalogue.current), writer: context.writer }
    const { mandate_id } = await createMandate(tx, scope, deps, aMandate(workflow_id), 'api')
    return { workflowId: workflow_id, mandateId: mandate_id }
  })
  await context.keyring.refresh()
  await prepareMandates(context)
  return {
    ...scope,
    ...createdIds,
    client,
    async post(path, body) {
      const idempotencyKey = randomBytes(12).toString('hex')
      const response = await client.request('POST', path, { body, idempotencyKey })
      if (response.status >= 300) throw new Error(`${response.status} ${JSON.stringify(response.body)}`)
      return (response.body as { data: { campaign: { campaign_id: string } } }).data
    },
  }
}

function aMandate(workflow_id: string) {
  return {
    workflow_id,
    title: 'Electrician',
    company_name: 'Metro Ltd',
    location: { city: 'Pune', state: 'Maharashtra', pincode: '411001' },
    skills: ['sk_2001', 'sk_2005', 'sk_2020', 'sk_2002', 'sk_2003'].map((skill_id, index) => ({
      skill_id,
      verify: index < 3,
    })),
    enrichment_questions: [
      { key: 'licence', type: 'yes_no' as const, text: 'Do you hold a wireman licence?', knockout: 'no' as const },
    ],
  }
}
