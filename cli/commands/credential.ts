import { Command } from 'commander'
import { examples } from '../examples.ts'
import { credentialKeysCommand } from './credential-keys.ts'
import { eraseHolderCommand, revokeCredentialCommand } from './credential-revoke.ts'
import { verifyCredentialCommand } from './credential-verify.ts'

export function credentialCommand(): Command {
  const credential = new Command('credential')
    .description('Check and revoke credentials, and manage the keys that sign them')
    .addHelpText(
      ...examples(
        'credential verify badge.json',
        'credential revoke crd_… --org ORG_…',
        'credential keys rotate --org ORG_…',
      ),
    )
  credential.addCommand(verifyCredentialCommand())
  credential.addCommand(revokeCredentialCommand())
  credential.addCommand(eraseHolderCommand())
  credential.addCommand(credentialKeysCommand())
  return credential
}
