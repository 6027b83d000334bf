import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { findFreePort } from '../support/free-port.ts'
import { aCandidate, createCampaignPartner } from '../support/partners.ts'
import { until } from '../support/until.ts'
import { createKey, orgIn, pageTests, type Site } from './page-runner.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A shell function that checks that each role gets a new password, because the test may not create roles. */
const PSQL = `psql() {
  test "$*" = '--host=db.internal --username=postgres --set=ON_ERROR_STOP=1'
  local statements=$(cat)
  test "$(grep -oE "password '[0-9a-f]{48}'" <<< "$statements" | sort -u | wc -l)" = 2
  grep -q '^create database attestry owner attestry_owner;$' <<< "$statements"
}`

const tests = pageTests({
  'README.md': async (site) => ({
    replace: { ...orgIn(site), 'VFN_TEST_…': (await createKey(site, 'test')).keyId },
    before: [npmStartFunction(await findFreePort(), embeddedDatabaseEnv(site))],
    output: /Attestry is running.*"skill_id".*Usage: attestry.*VFN_SK_/s,
  }),
  'docs/guides/run-in-production.md': async (site) => ({
    replace: {
      ...orgIn(site),
      'npx attestry init': 'npx attestry --env-file new.env init',
      ...(await createDeadLetters(site)),
    },
    before: ['npx attestry operator add you@example.com', PSQL, npmStartFunction(await findFreePort(), 'ROLES=api')],
    output: /Attestry is running.*the stored data is not valid JSON/s,
  }),
  'docs/guides/sign-in-with-your-identity-provider.md': async ({ t, app }) => {
    const { queries } = app.context.db
    await sql`
      insert into identity_providers (provider_id, name, issuer, client_id, allowed_domains, group_claim, required, created_at, updated_at)
      values ('IP_1', 'Example ID', 'https://id.example.com', 'attestry', '{example.com}', 'groups', true, now(), now())`.execute(
      queries,
    )
    t.after(() => sql`delete from identity_providers where provider_id = 'IP_1'`.execute(queries))
    return {
      before: ['npx attestry operator add meera@example.com'],
      output: /no longer required; sign-in by email is on\..*\/console\/sign-in#token=/s,
    }
  },
})

for (const [name, run] of tests) test(name, run)

/** Returns arguments of `env` for a server with its own embedded database. */
function embeddedDatabaseEnv({ folder }: Site): string {
  return `--unset=DATABASE_URL --unset=DATABASE_OWNER_URL --unset=PUBLIC_URL DATA_DIR=${folder}/data`
}

/** Creates two candidates who could not be contacted, and returns their IDs for the commands of the page. */
async function createDeadLetters({ app, orgId }: Site): Promise<Record<string, string>> {
  const partner = await createCampaignPartner(app, { orgId })
  const { mandate_id } = await partner.createMandate()
  await until(async () => (await partner.get(`/mandates/${mandate_id}`)).body.data.status === 'ready')
  const { campaign } = await partner.createCampaign(mandate_id, [aCandidate(1), aCandidate(2)])
  const { body } = await partner.get(`/campaigns/${campaign.campaign_id}/candidates`)
  const ids: string[] = body.data.items.map(({ candidate_id }: { candidate_id: string }) => candidate_id)
  for (const id of ids)
    await sql`
      insert into dead_letters (queue, subject_id, org_id, mode, attempts, error, first_failed_at, last_failed_at)
      values ('contacts', ${id}, ${orgId}, 'test', 5, 'the stored data is not valid JSON', now(), now())`.execute(
      app.context.db.queries,
    )
  return { 'retry contacts CD_…': `retry contacts ${ids[0]}`, 'discard contacts CD_…': `discard contacts ${ids[1]}` }
}

/** Returns a shell function `npm` that starts the server, waits until it is ready, and stops it. */
function npmStartFunction(port: number, environment: string): string {
  return `npm() {
    test "$*" = start || return 1
    (cd ${root} && exec env ${environment} PORT=${port} npm start) > server.log 2>&1 &
    local server=$!
    for attempt in $(seq 300); do
      if grep -q 'is running' server.log || ! kill -0 $server; then break; fi
      sleep 0.2
    done
    cat server.log
    local status=0
    curl --silent --show-error --fail http://127.0.0.1:${port}/readyz || status=$?
    kill $server
    wait $server || true
    return $status
  }`
}
