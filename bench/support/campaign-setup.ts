import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { AttestryClient } from '../../sdk/index.ts'
import { setLimits } from '../../server/access/key-limits.ts'
import { createPartnerKey, type Mode } from '../../server/access/keys.ts'
import { createOrganisation } from '../../server/access/organisations.ts'
import { scopes } from '../../server/access/scopes.ts'
import { buildApp } from '../../server/app.ts'
import { grantCredits } from '../../server/campaigns/credits.ts'
import { saveCredentials } from '../../server/channels/credentials.ts'
import { readConfig } from '../../server/config.ts'
import { type Context, openContext } from '../../server/context.ts'
import { createMandate } from '../../server/mandates/mandates.ts'
import { openPreparer } from '../../server/mandates/preparation.ts'
import { createLog } from '../../server/platform/log.ts'
import { registerWork } from '../../server/worker.ts'
import { createWorkflow } from '../../server/workflows/workflows.ts'
import { databaseUrl, prepareTemplate, startCluster, TEMPLATE } from '../../test/runner/cluster.ts'

export interface Bench {
  context: Context
  /** Of the database's superuser. */
  postgresUrl: string
  partner(mode: Mode): Promise<Partner>
  stop(): Promise<void>
}

export interface Partner {
  orgId: string
  mode: Mode
  mandateId: string
  /** The answer's data. */
  post(path: string, body: object): Promise<{ campaign: { campaign_id: string } }>
}

/** A server in this process, on the embedded database; with a worker where asked. */
export async function startBench({ worker }: { worker: boolean }): Promise<Bench> {
  const cluster = await startCluster()
  await prepareTemplate(cluster.url)
  const postgresUrl = databaseUrl(cluster.url, TEMPLATE)
  const config = readConfig({
    DATABASE_URL: postgresUrl,
    ADMIN_API_KEY: 'key-of-the-bench',
    MASTER_KEY: randomBytes(32).toString('base64'),
    PORT: '0',
  })
  const log = createLog('error')
  const { context, close } = await openContext(config, { log, ...(worker ? { work: registerWork } : {}) })
  const app = buildApp(context)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  context.config.publicUrl ??= url
  return {
    context,
    postgresUrl,
    partner: (mode) => makePartner(context, url, mode),
    async stop() {
      await app.close()
      await close()
      await cluster.stop()
    },
  }
}

async function makePartner(context: Context, url: string, mode: Mode): Promise<Partner> {
  const { db, clock, vault } = context
  const rates = { rate: 10_000, burst: 10_000, minute: 100_000, day: 1_000_000 }
  const made = await db.transaction(async (tx) => {
    const { org_id: orgId } = await createOrganisation(tx, 'Bench', clock)
    const scope = { orgId, mode }
    const key = await createPartnerKey(tx, vault, clock, { ...scope, scopes: [...scopes] })
    for (const bucket of ['key', 'reads', 'campaignWrites'] as const) await setLimits(tx, key.keyId, { bucket, rates })
    await setLimits(tx, key.keyId, { peoplePerDay: 1_000_000 })
    await grantCredits(tx, scope, clock, 1_000_000)
    await saveCredentials(tx, vault, clock, orgId, 'whatsapp', {})
    const { workflow_id } = await createWorkflow(tx, scope, clock, { name: 'Bench' }, 'api')
    const around = { clock, skills: context.catalogue.current, writer: context.writer }
    const { mandate_id } = await createMandate(tx, scope, around, aMandate(workflow_id), 'api')
    return { ...scope, key, mandateId: mandate_id }
  })
  await context.keyring.refresh()
  await openPreparer(context).settle()
  const { key, ...partner } = made
  const client = new AttestryClient({ baseUrl: url, keyId: key.keyId, secret: key.secret })
  return {
    ...partner,
    async post(path, body) {
      const idempotencyKey = randomBytes(12).toString('hex')
      const answer = await client.request('POST', path, { body, idempotencyKey })
      if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      return (answer.body as { data: { campaign: { campaign_id: string } } }).data
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
