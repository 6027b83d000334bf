import { randomBytes } from 'node:crypto'
import { Command } from 'commander'
import { type DataKeyRotation, rotateDataKey } from '../../server/platform/data-key-rotation.ts'
import { replaceMasterKey } from '../../server/platform/local-secrets.ts'
import { addMasterKey, removeOtherMasterKeys } from '../../server/platform/vault.ts'
import { sealedColumns } from '../../server/sealed-columns.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { showProgress } from '../progress.ts'
import { type CliStore, withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

export function masterKeyCommand(): Command {
  const masterKey = new Command('master-key')
    .description('Rotate the master key, which protects all secrets at rest')
    .addHelpText(...examples('master-key rotate', 'master-key rotate --data-key', 'master-key finish'))

  masterKey
    .command('rotate')
    .description(
      'Rotate the master key without interrupting running servers. If MASTER_KEY or MASTER_KEY_FILE is set, set it to the printed key, restart every process, and run "master-key finish"',
    )
    .option(
      '--data-key',
      'also create a new data key and encrypt every secret again; required after the master key or a backup has leaked',
    )
    .addHelpText(...examples('master-key rotate', 'master-key rotate --data-key'))
    .action(rotateMasterKey)

  masterKey
    .command('finish')
    .description('Finish a rotation: invalidate every master key except the one in MASTER_KEY')
    .addHelpText(...examples('master-key finish'))
    .action(async (_options: object, command: Command) => {
      const removedKeyCount = await withStore(({ db, clock, masterKey: currentKey }) =>
        db.transaction(async (tx) => {
          const removedCount = await removeOtherMasterKeys(tx, currentKey)
          if (removedCount > 0)
            await recordCliChange(tx, clock, { action: 'master_key.finish', details: { removed: removedCount } })
          return removedCount
        }),
      )
      print(command, { finished: true, forgotten: removedKeyCount }, () =>
        removedKeyCount > 0
          ? 'Finished the rotation. Only the current master key is valid now.'
          : 'Nothing to finish: no rotation is in progress, and only the current master key is valid.',
      )
    })
  return masterKey
}

async function rotateMasterKey(options: { dataKey?: boolean }, command: Command) {
  const newKey = randomBytes(32)
  const { dataKey, masterKeyFile, isStored } = await withStore(async (store) => {
    const { config, db, clock, masterKey: currentKey } = store
    // First, while the running servers can still decrypt the new data key with the master key that they have in memory.
    const rotation = options.dataKey ? await runDataKeyRotation(store) : undefined
    await db.transaction(async (tx) => {
      await addMasterKey(tx, currentKey, newKey, clock)
      await recordCliChange(tx, clock, {
        action: 'master_key.rotate',
        details: rotation ? { data_key: rotation.dataKeyId, resealed: rotation.resealed } : {},
      })
    })
    const result = { dataKey: rotation, masterKeyFile: config.masterKeyFile }
    if (config.masterKey) return { ...result, isStored: false }
    await replaceMasterKey(config.dataDir, newKey)
    await db.transaction((tx) => removeOtherMasterKeys(tx, newKey))
    return { ...result, isStored: true }
  })
  const dataKeyRecord = dataKey ? { data_key: { resealed: dataKey.resealed, resumed: dataKey.resumed } } : {}
  if (isStored) {
    print(command, { rotated: true, kept_in: 'DATA_DIR', ...dataKeyRecord }, () =>
      [...describeDataKey(dataKey), 'Rotated the master key. The new key is stored in DATA_DIR.'].join('\n'),
    )
    return
  }
  const encodedKey = newKey.toString('base64')
  const target = masterKeyFile ? `Write the new key to ${masterKeyFile}` : 'Set MASTER_KEY to the new key'
  print(command, { rotated: true, master_key: encodedKey, ...dataKeyRecord }, () =>
    [
      `MASTER_KEY=${encodedKey}`,
      '',
      ...describeDataKey(dataKey),
      `The old and the new key are valid now. ${target} for every process and restart the processes, then run: npx attestry master-key finish`,
    ].join('\n'),
  )
}

async function runDataKeyRotation({ db, vault, clock, masterKey }: CliStore): Promise<DataKeyRotation> {
  const progress = showProgress('Encrypting secrets')
  try {
    return await rotateDataKey({
      db,
      vault,
      clock,
      masterKey,
      columns: sealedColumns,
      onProgress: (done, total) => progress.update(done, total),
      onWait: (text) => console.error(text),
    })
  } finally {
    progress.end()
  }
}

function describeDataKey(rotation: DataKeyRotation | undefined): string[] {
  if (!rotation)
    return [
      'The data key and the encrypted secrets are unchanged: only the encryption of the data key was renewed. If the master key or a backup has leaked, run: npx attestry master-key rotate --data-key',
    ]
  return [
    `${rotation.resumed ? 'Completed an interrupted rotation of the data key' : 'Rotated the data key'}: ${rotation.resealed.toLocaleString('en-US')} ${rotation.resealed === 1 ? 'secret was' : 'secrets were'} encrypted again, and the old data key was deleted.`,
  ]
}
