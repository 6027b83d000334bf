import { randomBytes } from 'node:crypto'
import { Command } from 'commander'
import { replaceMasterKey } from '../../server/platform/local-secrets.ts'
import { addMasterKey, removeOtherMasterKeys } from '../../server/platform/vault.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'

export function masterKeyCommand(): Command {
  const masterKey = new Command('master-key')
    .description('Rotate the master key, which encrypts all secrets at rest')
    .addHelpText(...examples('master-key rotate', 'master-key finish'))

  masterKey
    .command('rotate')
    .description(
      'Rotate the master key without interrupting running servers. If MASTER_KEY is set, set it to the printed key, restart every process, and run "master-key finish"',
    )
    .addHelpText(...examples('master-key rotate'))
    .action(async (_options: object, command: Command) => {
      const newKey = randomBytes(32)
      const storedInDataDir = await withStore(async ({ config, db, clock, masterKey: currentKey }) => {
        await db.transaction((tx) => addMasterKey(tx, currentKey, newKey, clock))
        if (config.masterKey) return false
        await replaceMasterKey(config.dataDir, newKey)
        await db.transaction((tx) => removeOtherMasterKeys(tx, newKey))
        return true
      })
      if (storedInDataDir) {
        print(
          command,
          { rotated: true, kept_in: 'DATA_DIR' },
          () => 'Rotated the master key. The new key is stored in DATA_DIR.',
        )
      } else {
        const encodedKey = newKey.toString('base64')
        print(command, { rotated: true, master_key: encodedKey }, () =>
          [
            `MASTER_KEY=${encodedKey}`,
            '',
            'The old and the new key are valid now. Set MASTER_KEY to the new key for every process and restart the processes, then run: npx attestry master-key finish',
          ].join('\n'),
        )
      }
    })

  masterKey
    .command('finish')
    .description('Finish a rotation: invalidate every master key except the one in MASTER_KEY')
    .addHelpText(...examples('master-key finish'))
    .action(async (_options: object, command: Command) => {
      const removedKeyCount = await withStore(({ db, masterKey: currentKey }) =>
        db.transaction((tx) => removeOtherMasterKeys(tx, currentKey)),
      )
      print(command, { finished: true, forgotten: removedKeyCount }, () =>
        removedKeyCount > 0
          ? 'Finished the rotation. Only the current master key is valid now.'
          : 'Nothing to finish: no rotation is in progress, and only the current master key is valid.',
      )
    })
  return masterKey
}
