import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createEmptyDatabase, type TestDatabase } from '../support/backups.ts'
import { WHATSAPP } from '../support/provider.ts'
import { startTemplateApi } from '../support/whatsapp-templates.ts'
import { readBlocks } from './code-blocks.ts'
import { createKey, orgIn, pageTests } from './page-runner.ts'

const tests = pageTests({
  'docs/guides/back-up-and-restore.md': async ({ t, folder }) => {
    const [first, second] = [await createEmptyDatabase(t), await createEmptyDatabase(t)]
    const backup = `$(ls ${folder}/backups/*.attestry-backup | head -n 1)`
    return {
      replace: {
        '/mnt/backups/attestry-20260131T023000Z-0a1b2c.attestry-backup': backup,
        '/mnt/backups/': `${folder}/backups/`,
        'npx attestry restore move': `${databaseOf(second)} npx attestry restore move`,
        'npx attestry restore /': `${databaseOf(first)} npx attestry restore /`,
        'npx attestry restore $': `${databaseOf(first)} npx attestry restore $`,
        'npm start\n': '', // runs until it is stopped; test/e2e/ starts servers
      },
      before: [`mkdir ${folder}/backups`],
    }
  },
  'docs/guides/email.md': async () => ({ output: /asha@example\.com|suppress/ }),
  'docs/guides/observe.md': async () => ({}),
  'docs/guides/set-up-channels.md': async (site) => {
    const settings = readBlocks('docs/guides/set-up-channels.md', ['json']).map(({ text }) => text)
    const writeSettings = (name: string, text: string) =>
      writeFileSync(join(site.folder, name), text.replaceAll('…', '0123456789abcdef'))
    writeFileSync(
      join(site.folder, 'approved.csv'),
      'Template Name,Template ID\nattestry_invitation_en,1107000000000000001\n',
    )
    const templateApi = await startTemplateApi(site.t)
    const { access_token } = WHATSAPP
    const whatsapp = { ...JSON.parse(settings[0]!), access_token, base_url: templateApi.url }
    writeSettings('whatsapp.json', JSON.stringify(whatsapp))
    writeSettings('exotel-voice.json', settings.find((text) => text.includes('app_id'))!)
    return { replace: orgIn(site), output: /whatsapp.*\/hooks\/exotel\/CH_\w{26}\/gather\/.*\/passthru\//s }
  },
  'docs/guides/the-console.md': async (site) => {
    await sql`
      insert into console_passkeys (passkey_id, email, name, credential_id, public_key, counter, transports, created_at)
      values ('PK_1', 'asha@example.com', 'Phone', '\\x01', '\\x01', 0, '{}', now())`.execute(
      site.app.context.db.queries,
    )
    return {
      replace: orgIn(site),
      before: ['npx attestry operator add operator@localhost'],
      output: /meera@example\.com.*asha@example\.com/s,
    }
  },
  'docs/guides/upgrade.md': async () => ({ output: /up to date|No migration|0 migrations/i }),
  'docs/reference/limits.md': async (site) => ({
    replace: {
      ...orgIn(site),
      'VFN_TEST_…': (await createKey(site, 'test')).keyId,
      'VFN_LIVE_…': (await createKey(site, 'live')).keyId,
    },
  }),
})

for (const [name, run] of tests) test(name, run)

/** Returns the variables that make a command work on another database. */
function databaseOf({ env, ownerUrl }: TestDatabase): string {
  return `DATABASE_URL='${env.DATABASE_URL}' DATABASE_OWNER_URL='${ownerUrl}'`
}
