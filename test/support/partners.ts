import { setKeyLimits } from '../../server/access/key-limits.ts'
import type { Mode } from '../../server/access/keys.ts'
import { BUCKET_NAMES } from '../../server/access/limits/table.ts'
import { contactNow } from '../../server/campaigns/contact/engine.ts'
import { grantCredits } from '../../server/campaigns/credits.ts'
import { saveCredentials } from '../../server/channels/credentials.ts'
import type { Context } from '../../server/context.ts'
import type { MandateInput } from '../../server/mandates/schema.ts'
import { changePrivacySettings } from '../../server/notices/settings.ts'
import type { Clock } from '../../server/platform/clock.ts'
import type { Tx } from '../../server/platform/database/database.ts'
import type { WorkflowInput } from '../../server/workflows/schema.ts'
import type { TestApp } from './app.ts'
import { WHATSAPP } from './provider.ts'

const HIGH_RATES = { rate: 10_000, burst: 10_000, minute: 100_000, day: 1_000_000 }

/** Raises the rate limits of a key, so that no test or benchmark reaches them. */
export async function raiseLimits({ db, keyring }: Context, keyId: string): Promise<void> {
  await db.transaction(async (tx) => {
    for (const bucket of BUCKET_NAMES) await setKeyLimits(tx, keyId, { bucket, rates: HIGH_RATES })
  })
  await keyring.refresh()
}

/**
 * Creates a partner key with high rate limits, in a new organisation unless `existingOrgId` is passed. Returns functions that send
 * requests signed with the key.
 */
export async function createPartner(app: TestApp, mode: Mode = 'live', existingOrgId?: string) {
  const orgId = existingOrgId ?? (await app.fixtures.createOrg()).orgId
  const key = await app.fixtures.createPartnerKey(orgId, { mode })
  await raiseLimits(app.context, key.keyId)
  return { ...app.as(key), orgId, mode, key, scope: { orgId, mode } }
}

/** Declares why the organisation may contact its LIVE candidates, so that they are enrolled without their own consents. */
export async function declareContactBasis(tx: Tx, clock: Clock, orgId: string): Promise<void> {
  const change = { contact_basis: 'application', contact_basis_source: 'application form of the tests' } as const
  await changePrivacySettings(tx, clock, orgId, change)
}

export interface CampaignPartnerOptions {
  mode?: Mode
  credits?: number
  orgId?: string
  peoplePerDay?: number
}

export type CampaignPartner = Awaited<ReturnType<typeof createCampaignPartner>>

/** Creates a partner with credits and, in LIVE mode, WhatsApp credentials and a contact basis. Returns functions that create mandates and campaigns. */
export async function createCampaignPartner(
  app: TestApp,
  { mode = 'test', credits = 1000, peoplePerDay, orgId: existingOrgId }: CampaignPartnerOptions = {},
) {
  const { fixtures, context, clock } = app
  const { get, post, put, patch, delete: remove, orgId, key, scope } = await createPartner(app, mode, existingOrgId)
  await context.db.transaction(async (tx) => {
    if (peoplePerDay !== undefined) await setKeyLimits(tx, key.keyId, { peoplePerDay })
    if (credits > 0) await grantCredits(tx, scope, clock, credits)
    if (mode === 'live') {
      await saveCredentials(tx, context.vault, clock, orgId, 'whatsapp', { template: WHATSAPP.template })
      await declareContactBasis(tx, clock, orgId)
    }
  })
  await context.keyring.refresh()
  return {
    get,
    post,
    put,
    patch,
    remove,
    orgId,
    mode,
    key,
    scope,
    /** Creates a prepared mandate in a new workflow. */
    async createMandate(workflow: Partial<WorkflowInput> = {}, mandate: Partial<MandateInput> = {}) {
      const { workflow_id } = await fixtures.createWorkflow(scope, workflow)
      return fixtures.createMandate(scope, { workflow_id, ...mandate })
    },
    /** Creates a campaign and returns the `data` of the response. */
    async createCampaign(mandateId: string, candidates?: object[], overrides: object = {}) {
      const body = { mandate_id: mandateId, ...(candidates ? { candidates } : {}), ...overrides }
      const response = await post('/campaigns', body, { idempotencyKey: true })
      if (response.status !== 202) throw new Error(`${response.status} ${JSON.stringify(response.body)}`)
      return response.body.data
    },
    enrol: (campaignId: string, candidates: object[]) =>
      post(`/campaigns/${campaignId}/candidates`, { candidates }, { idempotencyKey: true }),
  }
}

/** Returns a candidate with one of the test numbers, which reply to messages automatically. */
export function aTestNumberCandidate(number: number, overrides: object = {}) {
  return aCandidate(number, { phone: `+9199900000${String(number).padStart(2, '0')}`, ...overrides })
}

/** Returns a candidate who does not reply to messages, unless the test sends a reply. */
export function aCandidate(number: number, overrides: object = {}) {
  const phone = `+9198${String(10_000_000 + number)}`
  return { external_candidate_id: `ext-${number}`, name: `Person ${number}`, phone, ...overrides }
}

/** Advances the clock in small steps and contacts the due candidates after each step. */
export async function passTime({ context, clock }: TestApp, milliseconds: number, stepMs = 350): Promise<void> {
  for (let passedMs = 0; passedMs < milliseconds; passedMs += stepMs) {
    await contactNow(context)
    clock.advance(stepMs)
  }
  await contactNow(context)
}

/** Returns the paths of the validation errors in a response, in order and without duplicates. */
export function errorPaths(response: { body: { error?: { details: { path: string }[] } } }): string[] {
  return [...new Set(response.body.error?.details.map(({ path }) => path))]
}
