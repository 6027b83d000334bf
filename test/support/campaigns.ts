import { setLimits } from '../../server/access/key-limits.ts'
import type { Mode } from '../../server/access/keys.ts'
import { contactNow } from '../../server/campaigns/contact/engine.ts'
import { grantCredits } from '../../server/campaigns/credits.ts'
import { saveCredentials } from '../../server/channels/credentials.ts'
import type { MandateInput } from '../../server/mandates/schema.ts'
import type { WorkflowInput } from '../../server/workflows/schema.ts'
import type { TestApp } from './app.ts'

export type Campaigner = Awaited<ReturnType<typeof campaigner>>

export interface CampaignerOptions {
  mode?: Mode
  credits?: number
  orgId?: string
  peoplePerDay?: number
}

/** A caller with credits, who may call as often as the test wants. */
export async function campaigner(
  { given, context, as, clock }: TestApp,
  { mode = 'test', credits = 1000, peoplePerDay, ...options }: CampaignerOptions = {},
) {
  const orgId = options.orgId ?? (await given.org()).orgId
  const key = await given.key(orgId, { mode })
  const scope = { orgId, mode }
  const rates = { rate: 10_000, burst: 10_000, minute: 100_000, day: 1_000_000 }
  await context.db.transaction(async (tx) => {
    for (const bucket of ['key', 'reads', 'campaignWrites'] as const) await setLimits(tx, key.keyId, { bucket, rates })
    if (peoplePerDay !== undefined) await setLimits(tx, key.keyId, { peoplePerDay })
    if (credits > 0) await grantCredits(tx, scope, clock, credits)
    if (mode === 'live') await saveCredentials(tx, context.vault, clock, orgId, 'whatsapp', { token: 'of the test' })
  })
  await context.keyring.refresh()
  const { get, post, put, delete: remove } = as(key)
  return {
    get,
    post,
    put,
    remove,
    orgId,
    mode,
    key,
    scope,
    /** A mandate that is ready, under a workflow of its own. */
    async mandate(workflow: Partial<WorkflowInput> = {}, mandate: Partial<MandateInput> = {}) {
      const { workflow_id } = await given.workflow(scope, workflow)
      return given.mandate(scope, { workflow_id, ...mandate })
    },
    /** Starts a campaign; the answer's data. */
    async campaign(mandateId: string, candidates?: object[], more: object = {}) {
      const body = { mandate_id: mandateId, ...(candidates ? { candidates } : {}), ...more }
      const made = await post('/campaigns', body, { idempotencyKey: true })
      if (made.status !== 202) throw new Error(`${made.status} ${JSON.stringify(made.body)}`)
      return made.body.data
    },
    enrol: (campaignId: string, candidates: object[]) =>
      post(`/campaigns/${campaignId}/candidates`, { candidates }, { idempotencyKey: true }),
  }
}

/** One of the test numbers, which plays its part by itself. */
export function player(number: number, more: object = {}) {
  return aCandidate(number, { phone: `+9199900000${String(number).padStart(2, '0')}`, ...more })
}

/** Somebody for whom a person has to answer. */
export function aCandidate(number: number, more: object = {}) {
  const phone = `+9198${String(10_000_000 + number)}`
  return { external_candidate_id: `ext-${number}`, name: `Person ${number}`, phone, ...more }
}

/** Lets time pass in small steps, doing what is due in each. */
export async function pass({ context, clock }: TestApp, milliseconds: number, stride = 350): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += stride) {
    await contactNow(context)
    clock.advance(stride)
  }
  await contactNow(context)
}
