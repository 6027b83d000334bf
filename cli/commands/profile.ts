import { createInterface } from 'node:readline/promises'
import { Command, InvalidArgumentError } from 'commander'
import { examples } from '../examples.ts'
import { findKeyRejection } from '../key-check.ts'
import { print, table } from '../print.ts'
import { describeProfile, isProfileName, listProfiles, readProfile, removeProfile, saveProfile } from '../profile.ts'

export function profileCommand(): Command {
  const profile = new Command('profile')
    .description('Manage profiles: servers and keys for signed calls, selected with --profile')
    .addHelpText(
      ...examples(
        'profile save acme-test --url https://verify.example.com --key-id VFN_TEST_…',
        'request GET /shifts --profile acme-test',
      ),
    )

  profile
    .command('save')
    .description('Save a server and a key; asks for the secret, or reads it from standard input')
    .argument('<name>', 'name of the profile', parseProfileName)
    .requiredOption('--url <url>', 'address of the server', parseServerUrl)
    .requiredOption('--key-id <key>', 'key ID, VFN_TEST_… or VFN_LIVE_…', parseKeyId)
    .addHelpText(
      ...examples('profile save acme-test --url https://verify.example.com --key-id VFN_TEST_… < secret.txt'),
    )
    .action(async (name: string, { url, keyId }: { url: string; keyId: string }, command: Command) => {
      const secret = await readSecret()
      if (secret === '')
        throw new Error(
          'standard input is empty; pass the secret on standard input, as in "< secret.txt", or run the command in a terminal, which asks for it; nothing was saved',
        )
      if (!/^VFN_SK_\S+$/.test(secret)) throw new Error('the secret must start with VFN_SK_; nothing was saved')
      const profile = { baseUrl: url, keyId, secret }
      const rejection = await findKeyRejection(profile).catch((error: Error) => {
        console.error(`Warning: the key could not be checked. ${error.message}`)
        return undefined
      })
      if (rejection !== undefined) throw new Error(`the server rejects this key; nothing was saved. ${rejection}`)
      const path = await saveProfile(process.env, profile, name)
      print(command, { name, path }, () => `Saved the profile ${name} in ${path}.`)
    })

  profile
    .command('list')
    .description('List the profiles')
    .addHelpText(...examples('profile list'))
    .action(async (_options: object, command: Command) => {
      const profiles = (await listProfiles(process.env)).map(({ name, profile: { baseUrl, keyId } }) => ({
        name,
        url: baseUrl,
        key_id: keyId,
      }))
      print(command, profiles, () =>
        table(
          ['PROFILE', 'SERVER', 'KEY'],
          profiles.map(({ name, url, key_id }) => [name ?? '(default)', url, key_id]),
          'No profiles. Create one with "attestry profile save".',
        ),
      )
    })

  profile
    .command('show')
    .description('Show the server and the key that the other commands would use')
    .addHelpText(...examples('profile show', 'profile show --profile acme-test'))
    .action(async (_options: object, command: Command) => {
      const found = await readProfile(process.env, command.optsWithGlobals<{ profile?: string }>().profile)
      const { baseUrl: url, keyId: key_id, source } = found
      print(command, { url, key_id, source }, () => `Commands use the ${describeProfile(found)}.`)
    })

  profile
    .command('remove')
    .description('Remove a profile; its key stays valid')
    .argument('<name>', 'name of the profile', parseProfileName)
    .addHelpText(...examples('profile remove acme-test'))
    .action(async (name: string, _options: object, command: Command) => {
      await removeProfile(process.env, name)
      print(
        command,
        { name, removed: true },
        () => `Removed the profile ${name}. Its key stays valid until it is revoked.`,
      )
    })

  return profile
}

/** Reads the secret from standard input: one line, which a terminal does not show. */
async function readSecret(): Promise<string> {
  if (!process.stdin.isTTY) {
    const chunks: Buffer[] = []
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString('utf8').trim()
  }
  process.stderr.write('Secret (VFN_SK_…, not shown): ')
  const terminal = createInterface({ input: process.stdin, terminal: true })
  const secret = await terminal.question('')
  terminal.close()
  process.stderr.write('\n')
  return secret.trim()
}

function parseProfileName(text: string): string {
  if (!isProfileName(text))
    throw new InvalidArgumentError('Expected up to 64 letters, digits, dots, underscores and hyphens.')
  return text
}

function parseServerUrl(text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('Expected a URL such as https://verify.example.com.')
  return text.replace(/\/+$/, '')
}

function parseKeyId(text: string): string {
  if (!/^VFN_(TEST|LIVE)_\w+$/.test(text)) throw new InvalidArgumentError('Expected VFN_TEST_… or VFN_LIVE_….')
  return text
}
