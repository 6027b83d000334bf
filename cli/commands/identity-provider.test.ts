import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { ADMIN_KEY, cloneDatabase } from '../../test/support/app.ts'
import { createDeployment } from '../../test/support/server.ts'

test('commands make a required identity provider optional, and reset the second factors of a person', async (t) => {
  const { url, ownerUrl, drop } = await cloneDatabase()
  const { cli, json, env } = await createDeployment(t)
  Object.assign(env, {
    DATABASE_URL: url,
    DATABASE_OWNER_URL: ownerUrl,
    ADMIN_API_KEY: ADMIN_KEY,
    MASTER_KEY: randomBytes(32).toString('base64'),
  })
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  try {
    const missing = await cli('identity-provider', 'make-optional')
    assert.deepEqual([missing.code, /operators have no identity provider/.test(missing.stderr)], [1, true])
    const { org_id } = await json('org', 'create', '--name', 'Metro Staffing')
    const org = ['--org', org_id]
    assert.match((await cli('identity-provider', 'show', ...org)).stderr, /ORG_\w+ has no identity provider/)
    await client.query(
      `insert into identity_providers (provider_id, org_id, name, issuer, client_id, allowed_domains, group_claim, required, created_at, updated_at)
       values ('IP_1', $1, 'Metro ID', 'https://id.metro.example', 'attestry', '{metro.example}', 'groups', true, now(), now())`,
      [org_id],
    )
    assert.match((await cli('identity-provider', 'show', ...org)).stdout, /Required: sign-in by email is off/)
    assert.equal((await json('identity-provider', 'make-optional', ...org)).required, false)
    const { rows } = await client.query('select required from identity_providers')
    assert.deepEqual(rows, [{ required: false }])
    const { rows: entries } = await client.query(
      `select org_id, subject from audit_log where action = 'identity_provider.optional'`,
    )
    assert.deepEqual(entries, [{ org_id, subject: 'IP_1' }])

    const email = 'asha@metro.example'
    assert.match((await cli('second-factor', 'reset', email)).stderr, /has no passkey and no authenticator app/)
    // The app of this test has no sealed secret.
    await client.query('alter table console_authenticator_apps disable trigger require_open_data_key')
    await client.query(
      `insert into console_authenticator_apps (app_id, email, secret, confirmed_at, created_at) values ('TA_1', $1, '', now(), now())`,
      [email],
    )
    assert.equal((await cli('second-factor', 'reset', 'Asha@metro.example')).code, 0)
    assert.equal((await client.query('select from console_authenticator_apps')).rowCount, 0)
  } finally {
    await client.end()
    await drop()
  }
})
