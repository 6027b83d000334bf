import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { Command } from 'commander'
import { type Config, readConfig } from '../../server/config.ts'
import { readCredentialFile } from '../../server/credentials/check/baked-image.ts'
import { type CheckResult, type CheckVerdict, checkCredential } from '../../server/credentials/check/check.ts'
import { MAX_CREDENTIAL_BYTES, parseCredential } from '../../server/credentials/check/credential-text.ts'
import { createDocumentFetcher } from '../../server/credentials/check/fetch-document.ts'
import { issuerId } from '../../server/credentials/check/schema.ts'
import { issuerOfDid } from '../../server/credentials/issuers/issuers.ts'
import { localIssuer } from '../../server/credentials/issuers/local-issuer.ts'
import { examples } from '../examples.ts'
import { fieldList, print } from '../print.ts'
import { serverAddress } from '../server-address.ts'
import { withStore } from '../store.ts'

const STATUS_MARKS = { passed: '✓', failed: '✗', skipped: '–' }

const VERDICT_TEXTS: Record<CheckVerdict, string> = {
  valid: 'VALID: the issuer signed this credential and has not revoked it.',
  invalid: 'INVALID: do not rely on this credential.',
  revoked: 'REVOKED: the issuer has withdrawn this credential.',
  expired: 'EXPIRED: the credential is authentic, but its validity period is over.',
  not_yet_valid: 'NOT YET VALID: the credential is authentic, but its validity period has not begun.',
  unknown: 'UNKNOWN: the credential could not be checked completely; try again later.',
}

export function verifyCredentialCommand(): Command {
  return new Command('verify')
    .description(
      'Check a credential of any issuer: Open Badges 3.0 as JSON, VC-JWT, PNG or SVG (exit status 0 only if it is valid)',
    )
    .argument('<file>', 'file with the credential, or - for the standard input')
    .addHelpText(
      'after',
      `
Checks the structure, the signature, the validity period and the status list. Fetches the keys and the status list of the issuer over
HTTPS, except those of this deployment; addresses in private networks are rejected unless WEBHOOK_ALLOW lists them. A valid credential proves that the issuer signed
it. It does not prove that the person who shows it is the person whom it describes, or that the issuer is trustworthy.`,
    )
    .addHelpText(...examples('credential verify badge.json', 'credential verify --json badge.jwt'))
    .action(async (path: string, _options: object, command: Command) => {
      const text = await readCredentialText(path)
      const config = readConfig(process.env)
      const result = await checkText(text, { ...config, publicUrl: await serverAddress(config) })
      print(command, result, () => describeResult(result))
      if (result.verdict !== 'valid') process.exitCode = 1
    })
}

/** Checks a credential over the network, or in the database if this deployment issued it. */
async function checkText(text: string, config: Config): Promise<CheckResult> {
  const fetchDocument = createDocumentFetcher({ rules: { allow: config.webhookAllow, onLoopback: false } })
  const options = { now: new Date(), fetchDocument }
  if (!isOwnCredential(text, config)) return checkCredential(text, options)
  return withStore((store) => checkCredential(text, { ...options, local: localIssuer({ ...store, config }) }))
}

/** Returns whether the issuer is one of this deployment, whose database is available here. */
function isOwnCredential(text: string, config: Config): boolean {
  if (!config.databaseUrl && !existsSync(config.dataDir)) return false
  try {
    return issuerOfDid(config, issuerId(parseCredential(text).document) ?? '') !== undefined
  } catch {
    return false // the check states what is wrong with the text
  }
}

async function readCredentialText(path: string): Promise<string> {
  if (path === '-') {
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of process.stdin) {
      chunks.push(chunk)
      bytes += chunk.length
      // The check rejects longer texts.
      if (bytes > MAX_CREDENTIAL_BYTES) break
    }
    return readCredentialFile(Buffer.concat(chunks))
  }
  const file = await stat(path).catch(() => undefined)
  if (!file?.isFile()) throw new Error(`${path} is not a file. Check the path.`)
  if (file.size > MAX_CREDENTIAL_BYTES)
    throw new Error(`${path} is larger than ${MAX_CREDENTIAL_BYTES / 1024} KB, the maximum of a credential.`)
  return readCredentialFile(await readFile(path))
}

function describeResult({ verdict, test, steps, credential }: CheckResult): string {
  const fields = credential
    ? `\n\n${fieldList([
        ['Credential', credential.name],
        ['Issuer', credential.issuer_domain ?? 'identity not proven: anyone can create such an ID'],
        ['Issuer ID', credential.issuer_id],
        ['Issuer name', credential.issuer_name && `${credential.issuer_name} (as the issuer calls itself)`],
        ['Person', credential.subject_name],
        ['Valid from', credential.valid_from],
        ['Valid until', credential.valid_until],
        ['ID', credential.id],
      ])}`
    : ''
  const lines = steps.map(({ name, status, message }) => `${STATUS_MARKS[status]} ${name.padEnd(9)}  ${message}`)
  const banner = test ? 'TEST credential of this server: it says nothing about a real person.\n' : ''
  return `${banner}${VERDICT_TEXTS[verdict]}${fields}\n\n${lines.join('\n')}`
}
