import type { SimulatedAts } from '../../../cli/simulated-ats/simulated-ats.ts'
import { simulations } from '../../../cli/simulated-ats/simulations.ts'
import type { OrgScope } from '../../../server/access/caller.ts'
import type { LimitPreset } from '../../../server/access/limits/table.ts'
import type { AdapterName, CredentialName } from '../../../server/ats/adapter.ts'
import { adapters } from '../../../server/ats/adapters.ts'
import { type ConnectionInput, createConnection, createConnectionKey } from '../../../server/ats/connections.ts'
import { startReporter } from '../../../server/ats/reports/reporter.ts'
import { startTestLists } from '../../../server/ats/test-lists.ts'
import type { TestApp } from '../app.ts'
import type { Cleanup } from '../cleanup.ts'
import { findFreePort } from '../free-port.ts'
import { type CampaignPartner, type CampaignPartnerOptions, createCampaignPartner } from '../partners.ts'

/** A token that the simulated ATS accepts. */
export const ATS_TOKEN = 'token-that-the-ats-issued'

export const ATS_CREDENTIALS: Record<CredentialName, string> = {
  token: ATS_TOKEN,
  account_id: 'sandbox:1',
  signing_secret: 'secret-of-the-webhook',
}

export interface ConnectOptions {
  input?: Partial<ConnectionInput>
  preset?: LimitPreset
  /** Base URL of the ATS's API; only systems that have one use it. */
  apiUrl?: string | undefined
}

/** Creates a connection and a key of it. */
export async function connectAts(
  { context }: TestApp,
  scope: OrgScope,
  adapter: AdapterName,
  { input = {}, preset, apiUrl }: ConnectOptions = {},
) {
  const { credentials, apiUrl: apiUrlField } = adapters[adapter]
  const created = await context.db.transaction(async (tx) => {
    const connection = await createConnection(tx, context, scope, {
      adapter,
      name: 'Head office',
      country: 'IN',
      consent_basis: 'The candidate agreed in the application form.',
      ...Object.fromEntries(credentials.map(({ name }) => [name, ATS_CREDENTIALS[name]])),
      ...(apiUrlField && apiUrl ? { api_url: apiUrl } : {}),
      ...input,
    })
    const { keyId, key } = await createConnectionKey(tx, context, connection, preset)
    return { connectionId: connection.connection_id, keyId, key: key ?? '' }
  })
  await context.keyring.refresh()
  return created
}

export interface AtsSetup {
  ats: SimulatedAts
  partner: CampaignPartner
  connectionId: string
  key: string
  keyId: string
}

/** Starts a simulated ATS that is connected to a new organisation with credits, and the engine that sends reports. */
export async function startAts(
  t: Cleanup,
  app: TestApp,
  adapter: AdapterName,
  options: ConnectOptions & { partner?: CampaignPartnerOptions } = {},
): Promise<AtsSetup> {
  const partner = await createCampaignPartner(app, options.partner)
  // The address of the ATS is part of the connection, and the key of the connection is needed to simulate the ATS.
  const port = await findFreePort()
  const connection = await connectAts(app, partner.scope, adapter, { apiUrl: `http://127.0.0.1:${port}`, ...options })
  const ats = await simulations[adapter]({
    serverUrl: app.url,
    key: connection.key,
    connectionId: connection.connectionId,
    token: ATS_CREDENTIALS.token,
    accountId: ATS_CREDENTIALS.account_id,
    signingSecret: ATS_CREDENTIALS.signing_secret,
    port,
  })
  t.after(() => ats.close())
  return { ats, partner, ...connection }
}

/** Sends reports and lists of tests until the test ends. */
export function startReports(t: Cleanup, app: TestApp): void {
  for (const activity of [startReporter(app.context), startTestLists(app.context)]) t.after(() => activity.stop())
}

/** Returns a person with a test number, whose replies are automatic: 1 passes, 5 declines, and so on. */
export function aPerson(number: number, persona = 1, overrides: object = {}) {
  return {
    id: String(7000 + number),
    firstName: 'Person',
    lastName: String(number),
    email: `candidate-${String(persona).padStart(2, '0')}+${number}@test.attestry.example`,
    ...overrides,
  }
}
