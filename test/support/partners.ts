import { setLimits } from '../../server/access/key-limits.ts'
import type { Mode } from '../../server/access/keys.ts'
import { BUCKET_NAMES } from '../../server/access/limits/table.ts'
import { contactNow } from '../../server/campaigns/contact/engine.ts'
import { grantCredits } from '../../server/campaigns/credits.ts'
import { saveCredentials } from '../../server/channels/credentials.ts'
import type { Context } from '../../server/context.ts'
import type { MandateInput } from '../../server/mandates/schema.ts'
import type { WorkflowInput } from '../../server/workflows/schema.ts'
import type { TestApp } from './app.ts'

const HIGH_RATES = { rate: 10_000, burst: 10_000, minute: 100_000, day: 1_000_000 }

/** Raises the rate limits of a key so far that no test or benchmark reaches them. */
export async function raiseLimits({ db, keyring }: Context, keyId: string): Promise<void> {
  await db.transaction(async (tx) => {
    for (const bucket of BUCKET_NAMES) await setLimits(tx, keyId, { bucket, rates: HIGH_RATES })
  })
  await keyring.refresh()
}

/** Creates a key without practical rate limits, in a new organisation unless one is passed, and returns its calls. */
export async function partner(app: TestApp, mode: Mode = 'live', org?: string) {
  const orgId = org ?? (await app.given.org()).orgId
  const key = await app.given.key(orgId, { mode })
  await raiseLimits(app.context, key.keyId)
  return { ...app.as(key), orgId, mode, key, scope: { orgId, mode } }
}

export interface CampaignPartnerOptions {
  mode?: Mode
  credits?: number
  orgId?: string
  peoplePerDay?: number
}

export type CampaignPartner = Awaited<ReturnType<typeof campaignPartner>>

/** A partner with credits and, in LIVE mode, WhatsApp credentials; can create mandates and campaigns. */
export async function campaignPartner(
  app: TestApp,
  { mode = 'test', credits = 1000, peoplePerDay, orgId: existing }: CampaignPartnerOptions = {},
) {
  const { given, context, clock } = app
  const { get, post, put, delete: remove, orgId, key, scope } = await partner(app, mode, existing)
  await context.db.transaction(async (tx) => {
    if (peoplePerDay !== undefined) await setLimits(tx, key.keyId, { peoplePerDay })
    if (credits > 0) await grantCredits(tx, scope, clock, credits)
    if (mode === 'live') await saveCredentials(tx, context.vault, clock, orgId, 'whatsapp', { token: 'of the test' })
  })
  await context.keyring.refresh()
  return {
    get,
    post,
    put,
    remove,
    orgId,
    mode,
    key,
    scope,
    /** Creates a prepared mandate in a new workflow. */
    async mandate(workflow: Partial<WorkflowInput> = {}, mandate: Partial<MandateInput> = {}) {
      const { workflow_id } = await given.workflow(scope, workflow)
      return given.mandate(scope, { workflow_id, ...mandate })
    },
    /** Creates a campaign and returns the `data` of the response. */
    async campaign(mandateId: string, candidates?: object[], more: object = {}) {
      const body = { mandate_id: mandateId, ...(candidates ? { candidates } : {}), ...more }
      const response = await post('/campaigns', body, { idempotencyKey: true })
      if (response.status !== 202) throw new Error(`${response.status} ${JSON.stringify(response.body)}`)
      return response.body.data
    },
    enrol: (campaignId: string, candidates: object[]) =>
      post(`/campaigns/${campaignId}/candidates`, { candidates }, { idempotencyKey: true }),
  }
}

/** A candidate with one of the test numbers, which respond to messages automatically. */
export function testNumber(number: number, more: object = {}) {
  return aCandidate(number, { phone: `+9199900000${String(number).padStart(2, '0')}`, ...more })
}

/** A candidate who does not respond unless the test does so. */
export function aCandidate(number: number, more: object = {}) {
  const phone = `+9198${String(10_000_000 + number)}`
  return { external_candidate_id: `ext-${number}`, name: `Person ${number}`, phone, ...more }
}

/** Advances the clock in small steps and contacts the due candidates after each. */
export async function passTime({ context, clock }: TestApp, milliseconds: number, strideMs = 350): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += strideMs) {
    await contactNow(context)
    clock.advance(strideMs)
  }
  await contactNow(context)
}

/** Returns the paths of the validation errors in a response, without repetition, in order. */
export function errorPaths(response: { body: { error?: { details: { path: string }[] } } }): string[] {
  return [...new Set(response.body.error?.details.map(({ path }) => path))]
}
