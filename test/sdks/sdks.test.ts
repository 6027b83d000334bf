import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { assertBlocksRun, readBlocks } from '../contract/code-blocks.ts'
import { createFolder, findBlocks, path, runCampaign, runScript } from './guide-program.ts'
import { languages, type SdkLanguage } from './languages.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

for (const language of languages) {
  const skip = findSkipReason(language)

  if (language.folder)
    test(`${language.heading}: the commands of the README run the tests of the SDK, which pass`, {
      skip,
    }, async (t) => {
      const sdks = createFolder(t)
      const copy = join(sdks, basename(language.folder!))
      cpSync(join(root, language.folder!), copy, { recursive: true })
      cpSync(join(root, 'sdks/vectors.json'), join(sdks, 'vectors.json'))
      const commands = readBlocks(`${language.folder}/README.md`, ['sh']).at(-1)!.text
      const outcome = await runScript(t, copy, [language.beforeTests ?? ':', commands].join('\n'), {})
      assert.equal(outcome.code, 0, outcome.output)
    })

  test(
    `${language.heading}: the program of the guide runs a campaign and verifies its webhooks`,
    {
      skip,
    },
    (t) => runCampaign(t, language),
  )
}

test('the programs are all blocks of the guide', () => {
  const blocks = languages.flatMap(({ heading, blockLanguage }) => [
    findBlocks(heading, blockLanguage)[0]!,
    ...findBlocks(heading, 'sh'),
  ])
  assertBlocksRun('docs/guides/use-an-sdk.md', [...findBlocks('Prepare', 'sh'), ...blocks])
})

function findSkipReason({ heading, needs, fast }: SdkLanguage): string | false {
  const runsSlowLanguages = process.env.TEST_SLOW_SDKS === '1'
  if (fast === runsSlowLanguages) return fast ? 'runs in npm test' : 'runs in npm run verify'
  const missing = Object.keys(needs).filter(
    (name) => spawnSync('sh', ['-c', needs[name]!], { env: { ...process.env, PATH: path } }).status !== 0,
  )
  if (missing.length === 0) return false
  const reason = `not installed: ${missing.join(', ')}`
  console.log(`SDK for ${heading} skipped: ${reason}`)
  return reason
}
