import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ZipReader } from '../../server/platform/zip.ts'

/**
 * Validates content packages with the official XSD files of QTI 3.0, which are not part of the repository. The environment variable
 * QTI_SCHEMAS names the folder to which they were downloaded with the files that they import (see CONTRIBUTING.md).
 */
const ITEM_SCHEMA = 'imsqti_asiv3p0_v1p0.xsd'
const MANIFEST_SCHEMA = 'imsqtiv3p0_imscpv1p2_v1p0.xsd'

const folder = process.env.QTI_SCHEMAS

/** Why packages cannot be validated; false if they can. */
export function qtiSchemaSkipReason(): string | false {
  if (!folder) return 'QTI_SCHEMAS is not set: it names the folder with the XSD files of QTI 3.0 (see CONTRIBUTING.md)'
  if (spawnSync('xmllint', ['--version']).status !== 0)
    return 'xmllint is not installed; it is part of the package libxml2-utils'
  const missing = [ITEM_SCHEMA, MANIFEST_SCHEMA].filter((name) => !existsSync(join(folder, name)))
  return missing.length > 0 && `the folder of QTI_SCHEMAS does not contain ${missing.join(' and ')}`
}

/** Returns what xmllint reports about the files of a package; an empty list if all are valid. */
export function findQtiSchemaErrors(packageBytes: Buffer): string[] {
  const zip = new ZipReader(packageBytes, { maxEntries: 10_000, maxEntryBytes: 1e7, maxTotalBytes: 1e8 })
  const names = zip.names.filter((name) => name.endsWith('.xml'))
  const target = mkdtempSync(join(tmpdir(), 'attestry-qti-'))
  try {
    const files = names.map((name, index) => {
      const path = join(target, `${index}.xml`)
      writeFileSync(path, zip.read(name))
      return { name, path, schema: name === 'imsmanifest.xml' ? MANIFEST_SCHEMA : ITEM_SCHEMA }
    })
    return [MANIFEST_SCHEMA, ITEM_SCHEMA].flatMap((schema) =>
      runXmllint(
        schema,
        files.filter((file) => file.schema === schema),
      ),
    )
  } finally {
    rmSync(target, { recursive: true })
  }
}

function runXmllint(schema: string, files: { name: string; path: string }[]): string[] {
  if (files.length === 0) return []
  const { status, stderr } = spawnSync(
    'xmllint',
    ['--nonet', '--noout', '--schema', join(folder!, schema), ...files.map(({ path }) => path)],
    { encoding: 'utf8' },
  )
  if (status === 0) return []
  let report = stderr
  for (const { name, path } of files) report = report.replaceAll(path, name)
  return report.split('\n').filter((line) => line !== '' && !line.endsWith(' validates'))
}
