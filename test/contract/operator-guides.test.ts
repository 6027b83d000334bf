import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { createEmptyDatabase, type TestDatabase } from '../support/backups.ts'
import { WHATSAPP } from '../support/provider.ts'
import { startTemplateApi } from '../support/whatsapp-templates.ts'
import { readBlocks } from './code-blocks.ts'
import { createKey, orgIn, pageTests } from './page-runner.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

const { version: VERSION } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/**
 * A shell function for machines without a container engine. It runs the commands in containers on the server of the test, and checks the
 * other commands: that the files and services exist, and that the variables and secrets of compose.yaml are set.
 */
const DOCKER = `docker() {
  if test "$1 $2" = 'buildx build'; then
    test "$3 $4 $5 $6 $7" = '-f deploy/Containerfile --platform linux/amd64,linux/arm64 -t'
    test "$8 $9 \${10}" = 'registry.example.com/attestry:${VERSION} --push .'
    test -f "$4"
    return
  fi
  test "$1 $2 $3" = 'compose -f deploy/compose.yaml'
  local command=$4
  shift 4
  case "$command" in
    up|build)
      test "$command $*" = 'build ' || test "$*" = '-d' || test "$*" = '-d --build'
      for name in $(sed -n 's/.*\${\\([A-Z_]*\\):?.*/\\1/p' deploy/compose.yaml); do test -n "\${!name}"; done
      for file in $(sed -n 's/.*{ file: \\(.*\\) }/\\1/p' deploy/compose.yaml); do test -s "deploy/$file"; done ;;
    exec)
      grep -q "^  $1:$" deploy/compose.yaml
      test "$2" = attestry
      shift 2
      npx attestry "$@" ;;
    run)
      test "$1 $2" = '--rm migrate'
      grep -q '^  migrate:$' deploy/compose.yaml
      shift 2
      npx attestry "$@" ;; # the entry point of the image
    *) return 1 ;;
  esac
}`

/** ESCO with a single skill. */
const ESCO_FILES = {
  'skills_en.csv': ['conceptUri,preferredLabel,altLabels,description', 'u:kite,make kites,,Makes kites of paper.'],
  'skillsHierarchy_en.csv': [
    'Level 0 URI,Level 0 preferred term,Level 1 URI,Level 1 preferred term,Level 2 URI,Level 2 preferred term,Level 3 URI',
    'u:s,skills,u:s1,making,u:s1.1,paper craft,',
  ],
  'broaderRelationsSkillPillar_en.csv': ['conceptUri,broaderUri', 'u:kite,u:s1.1'],
}

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
  'docs/guides/import-a-taxonomy.md': async ({ folder }) => {
    mkdirSync(join(folder, 'esco'))
    for (const [name, lines] of Object.entries(ESCO_FILES)) writeFileSync(join(folder, 'esco', name), lines.join('\n'))
    return { output: /Dry run.*Added +1\n/s }
  },
  'docs/guides/observe.md': async () => ({}),
  'docs/guides/run-with-compose.md': async (site) => {
    cpSync(join(root, 'deploy'), join(site.folder, 'deploy'), {
      recursive: true,
      filter: (path) => !path.endsWith('/secrets'),
    })
    const release = readBlocks('docs/guides/run-with-compose.md').find(({ text }) =>
      text.startsWith('npm run release\n'),
    )!
    return {
      replace: { ...orgIn(site), [release.text]: '' }, // test/release/release.test.ts runs this block
      before: ['npx attestry operator add you@example.com', DOCKER],
      output: /wrote secrets\/master-key.*\/console\/sign-in#token=.*VFN_SK_.*migrations/s,
    }
  },
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
