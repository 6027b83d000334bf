import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { OrgScope } from '../../server/access/caller.ts'
import { createPartnerKey, createSessionKey, type Mode } from '../../server/access/keys.ts'
import { createOrganisation } from '../../server/access/organisations.ts'
import { allScopes, type Scope } from '../../server/access/scopes.ts'
import { buildApp } from '../../server/app.ts'
import { LoadedSkills } from '../../server/catalogue/loaded-skills.ts'
import { type Config, readConfig } from '../../server/config.ts'
import type { Context } from '../../server/context.ts'
import { getMandate, type Mandate } from '../../server/mandates/mandate-rows.ts'
import { createMandate } from '../../server/mandates/mandates.ts'
import { openPreparer } from '../../server/mandates/preparation.ts'
import type { MandateInput } from '../../server/mandates/schema.ts'
import { openContext } from '../../server/open-context.ts'

import { createLog } from '../../server/platform/log.ts'
import { jobs, registerWork } from '../../server/worker.ts'
import type { CreatedVia } from '../../server/workflows/enums.ts'
import type { WorkflowInput } from '../../server/workflows/schema.ts'
import { createWorkflow, type Workflow } from '../../server/workflows/workflows.ts'
import { databaseUrl, dropDatabase, runStatements, serverUrl, TEMPLATE_DATABASE } from '../runner/cluster.ts'
import { pooledUrl } from '../runner/pooler.ts'
import { type Call, createPartnerCalls, parseBody, type TestKey } from './call.ts'
import type { Cleanup } from './cleanup.ts'
import { TestClock } from './clock.ts'
import { watchErrorCodes } from './documented-errors.ts'

export const ADMIN_KEY = 'admin-key-of-the-tests-000'

interface TestOrg {
  orgId: string
  /** A LIVE partner key with every scope. */
  key: TestKey
}

export interface TestApp {
  url: string
  context: Context
  clock: TestClock
  /** All lines that the server has logged so far. */
  logLines: string[]
  /** Creates records for tests. */
  fixtures: {
    createOrg(name?: string): Promise<TestOrg>
    /** The default key is LIVE and has every scope. */
    createPartnerKey(orgId: string, options?: { mode?: Mode; scopes?: Scope[]; expiresAt?: Date }): Promise<TestKey>
    createSessionKey(orgId: string, mode?: Mode): Promise<string>
    createWorkflow(scope: OrgScope, input?: Partial<WorkflowInput>, via?: CreatedVia): Promise<Workflow>
    /** Creates a mandate and, unless the server runs all background jobs, prepares it. */
    createMandate(scope: OrgScope, input?: Partial<MandateInput>, via?: CreatedVia): Promise<Mandate>
  }
  /** Returns functions that send signed requests to the partner API. */
  as(key: TestKey): Record<'get' | 'post' | 'put' | 'patch' | 'delete', Call>
  /** Sends an unsigned request to any path. */
  fetch(path: string, init?: RequestInit): Promise<{ status: number; headers: Headers; body: any }>
}

export interface StartAppOptions {
  config?: Partial<Config>
  clock?: TestClock
  /** Whether to run background jobs, or the function that registers those to run. */
  worker?: boolean | typeof registerWork
  /** URL of a pooler in transaction mode that the server connects through. */
  poolerUrl?: string
  /** Adds test-only routes before the server starts. */
  extend?: (app: ReturnType<typeof buildApp>, context: Context) => void
}

/** Starts a server on a new database; both are removed when the test ends. */
export async function startApp(t: Cleanup, options: StartAppOptions = {}): Promise<TestApp> {
  const clock = options.clock ?? new TestClock()
  const { url: databaseUrl, ownerUrl, drop } = await cloneDatabase()
  const poolerUrl = options.poolerUrl ?? process.env.TEST_POOLER_URL
  const config: Config = {
    ...readConfig({
      DATABASE_URL: databaseUrl,
      ...(poolerUrl ? { DATABASE_URL: pooledUrl(databaseUrl, poolerUrl), DATABASE_DIRECT_URL: databaseUrl } : {}),
      DATABASE_OWNER_URL: ownerUrl,
      ADMIN_API_KEY: ADMIN_KEY,
      MASTER_KEY: randomBytes(32).toString('base64'),
      PORT: '0',
      CATALOGUE_INDEX_ON_DEMAND: 'true', // most tests search no skills, and building the index takes a second
      LOAD_SHEDDING: 'false', // a machine that runs several tests at once is often overloaded
    }),
    ...(options.config?.databaseUrl ? { databaseOwnerUrl: undefined, databaseDirectUrl: undefined } : {}),
    ...options.config,
  }
  const logLines: string[] = []
  const log = createLog('info', { write: (line) => void logLines.push(line) })
  const { context, close } = await openContext(config, {
    jobs,
    clock,
    log,
    ...(options.worker ? { work: options.worker === true ? registerWork : options.worker } : {}),
  })
  const server = buildApp(context)
  const checkErrorCodes = watchErrorCodes(server)
  options.extend?.(server, context)
  t.after(async () => {
    // A page that is still open keeps the connection of its last request for a minute.
    const timer = setInterval(() => server.server.closeIdleConnections(), 100)
    await server.close()
    clearInterval(timer)
    await close()
    await drop()
    checkErrorCodes()
  })
  await server.listen({ host: config.host, port: 0 })
  const url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  context.config.publicUrl ??= url

  const fixtures: TestApp['fixtures'] = {
    async createOrg(name = 'Acme Staffing') {
      const { org_id: orgId } = await context.db.transaction((tx) => createOrganisation(tx, name, clock))
      return { orgId, key: await fixtures.createPartnerKey(orgId) }
    },
    async createPartnerKey(orgId, { mode = 'live', scopes: grantedScopes = [...allScopes], expiresAt } = {}) {
      const createdKey = await context.db.transaction((tx) =>
        createPartnerKey(tx, context.vault, clock, {
          orgId,
          mode,
          scopes: grantedScopes,
          expiresAt,
          maxDays: undefined,
        }),
      )
      await context.keyring.refresh()
      return { orgId, mode, ...createdKey }
    },
    async createSessionKey(orgId, mode = 'live') {
      const { key } = await context.db.transaction((tx) =>
        createSessionKey(tx, clock, { orgId, mode, maxDays: undefined }),
      )
      await context.keyring.refresh()
      return key
    },
    createWorkflow: (scope, input = {}, via = 'api') =>
      context.db.transaction((tx) => createWorkflow(tx, scope, clock, { name: 'Site hiring', ...input }, via)),
    async createMandate(scope, input = {}, via = 'api') {
      const workflow_id = input.workflow_id ?? (await fixtures.createWorkflow(scope)).workflow_id
      const deps = { clock, skills: new LoadedSkills(context.catalogue.current), writer: context.writer }
      const { mandate_id } = await context.db.transaction((tx) =>
        createMandate(tx, scope, deps, { ...aMandate(workflow_id), ...input }, via),
      )
      if (options.worker !== true) await prepareMandates(context)
      return getMandate(context.db.queries, scope, mandate_id)
    },
  }
  return {
    url,
    context,
    clock,
    logLines,
    fixtures,
    as: (key) => createPartnerCalls(url, key, clock),
    async fetch(path, init) {
      const response = await fetch(url + path, init)
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: parseBody(text) }
    },
  }
}

/** Returns the body of a mandate without warnings, with three skills to verify. */
export function aMandate(workflowId: string): MandateInput {
  return {
    workflow_id: workflowId,
    title: 'Electrician',
    company_name: 'Metro Ltd',
    location: { city: 'Pune', state: 'Maharashtra', pincode: '411001' },
    skills: ['sk_2001', 'sk_2005', 'sk_2020', 'sk_2002', 'sk_2003'].map((skill_id, index) => ({
      skill_id,
      verify: index < 3,
    })),
    enrichment_questions: [
      { key: 'licence', type: 'yes_no', text: 'Do you hold a wireman licence?', knockout: 'no' },
      { key: 'notice', type: 'voice', text: 'When can you start?', required: false },
    ],
  }
}

/** Prepares all mandates that are waiting for preparation. */
export async function prepareMandates(context: Context): Promise<void> {
  await openPreparer(context).prepareAll()
}

export interface ClonedDatabase {
  /** URL of the role that serves requests. */
  url: string
  /** URL of the role that owns the tables, for statements that the server may not execute. */
  ownerUrl: string
  drop(): Promise<void>
}

/** Clones the migrated template database. */
export async function cloneDatabase(): Promise<ClonedDatabase> {
  const url = getPostgresUrl()
  const databaseName = `test_${randomBytes(8).toString('hex')}`
  // Copying the files takes less time than writing their contents to the write-ahead log.
  await runStatements(url, `create database ${databaseName} template ${TEMPLATE_DATABASE} strategy file_copy`)
  const ownerUrl = databaseUrl(url, databaseName)
  return { url: serverUrl(ownerUrl), ownerUrl, drop: () => dropDatabase(url, databaseName) }
}

export function getPostgresUrl(): string {
  const url = process.env.TEST_POSTGRES_URL
  if (!url)
    throw new Error(
      'TEST_POSTGRES_URL is not set: run tests with `npm test -- path/of/the.test.ts`, which starts a database',
    )
  return url
}
