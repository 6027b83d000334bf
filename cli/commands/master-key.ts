import { randomBytes } from 'node:crypto'
import { Command } from 'commander'
import { replaceMasterKey } from '../../server/platform/local-secrets.ts'
import { addMasterKey, keepOnlyMasterKey } from '../../server/platform/vault.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'

export function masterKeyCommand(): Command {
  const masterKey = new Command('master-key')
    .description('the key that encrypts all secrets at rest')
    .addHelpText(...examples('master-key rotate', 'master-key finish'))

  masterKey
    .command('rotate')
    .description('exchange it; servers that run go on undisturbed, and their next start takes the new one')
    .addHelpText(...examples('master-key rotate'))
    .action(async (_options: object, command: Command) => {
      const next = randomBytes(32)
      const kept = await withStore(async ({ config, db, clock, masterKey: current }) => {
        await db.transaction((tx) => addMasterKey(tx, current, next, clock))
        if (config.masterKey) return false
        await replaceMasterKey(config.dataDir, next)
        await db.transaction((tx) => keepOnlyMasterKey(tx, next))
        return true
      })
      if (kept) {
        print(
          command,
          { rotated: true, kept_in: 'DATA_DIR' },
          () => 'The master key was exchanged and is kept in DATA_DIR.',
        )
      } else {
        const text = next.toString('base64')
        print(command, { rotated: true, master_key: text }, () =>
          [
            `MASTER_KEY=${text}`,
            '',
            'Both keys work now. Set the new one everywhere, restart, then run: npx attestry master-key finish',
          ].join('\n'),
        )
      }
    })

  masterKey
    .command('finish')
    .description('after a rotation: forget every master key but the one in MASTER_KEY')
    .addHelpText(...examples('master-key finish'))
    .action(async (_options: object, command: Command) => {
      const forgotten = await withStore(({ db, masterKey: current }) =>
        db.transaction((tx) => keepOnlyMasterKey(tx, current)),
      )
      print(command, { finished: true, forgotten }, () =>
        forgotten > 0
          ? 'Only the current master key opens the secrets now.'
          : 'There is nothing to finish: no rotation is under way, and the current master key alone opens the secrets.',
      )
    })
  return masterKey
}
