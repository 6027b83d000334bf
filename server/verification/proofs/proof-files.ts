import { sql } from 'kysely'
import { problem } from '../../api/problem.ts'
import { readImage } from '../../branding/image.ts'
import { lockPersonKey } from '../../people/identity/people.ts'
import { openPersonal, type PersonKey, sealPersonal } from '../../people/identity/person-key.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { toSingleLine } from '../../platform/text/strip-invisible.ts'
import { chooseItems, type SourceKey } from '../items.ts'
import { dataErasedProblem, requireUnlocked, type Session } from '../sessions.ts'
import { checkPdf } from './check-pdf.ts'
import type { ProofFileInput } from './schema.ts'
import { stripMetadata } from './strip-metadata.ts'

const MAX_FILE_BYTES = 5 * 1024 * 1024
const MAX_FILES_PER_SESSION = 5
const MAX_NAME_LENGTH = 80
/** A small file can contain a huge image, which would occupy the memory of the reviewer's phone. */
const MAX_PIXELS = 25_000_000

export type ProofMediaType = 'image/jpeg' | 'image/png' | 'image/webp' | 'application/pdf'

const EXTENSIONS: Record<ProofMediaType, string> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'application/pdf': 'pdf',
}

/** A photo or document that proves an item of the student. */
export interface ProofFile {
  id: string
  source: SourceKey
  /** Name of the file on the device of the student, with the extension of its type. */
  name: string
  mediaType: ProofMediaType
  size: number
  createdAt: number
}

/** The content of a file that was checked, without metadata. */
export interface CheckedContent {
  mediaType: ProofMediaType
  content: Buffer
}

/** Throws if the session accepts no file for this item. Returns the item. */
export async function requireFileAllowed(tx: Tx, session: Session, input: ProofFileInput): Promise<SourceKey> {
  requireUnlocked(session)
  const source = readSource(session, input)
  const files = await listProofFiles(tx, session)
  if (files.length >= MAX_FILES_PER_SESSION)
    throw problem('TOO_MANY_FILES', `A session can have at most ${MAX_FILES_PER_SESSION} files. Delete one first.`)
  return source
}

/** Stores a file for an item of the session. */
export async function storeProofFile(
  tx: Tx,
  session: Session,
  input: ProofFileInput,
  { mediaType, content }: CheckedContent,
): Promise<ProofFile> {
  const source = await requireFileAllowed(tx, session, input)
  const key = await lockPersonKey(tx, session.personId)
  if (key === null) throw dataErasedProblem()
  const now = session.clock.now()
  const file: ProofFile = {
    id: newId('PF_', now),
    source,
    name: fileName(input.name, mediaType),
    mediaType,
    size: content.length,
    createdAt: now,
  }
  await tx
    .insertInto('proof_files')
    .values({
      file_id: file.id,
      verification_id: session.id,
      org_id: session.scope.orgId,
      mode: session.scope.mode,
      source,
      media_type: mediaType,
      size: file.size,
      personal: sealPersonal(key, file.name, namePurpose(file.id)),
      content: sealPersonal(key, content.toString('base64'), contentPurpose(file.id)),
      created_at: new Date(now),
    })
    .execute()
  return file
}

function readSource({ items }: Session, { sourceType, externalId }: ProofFileInput): SourceKey {
  const field = { experience: 'workExperienceIds', project: 'projectIds', certificate: 'credentialIds' }[sourceType]
  return chooseItems(items, { [field]: [externalId] })[0]!
}

/**
 * Returns a name that is safe to save a file with: the extension is that of the detected type, and the rest has no other extension, no
 * separators of paths, and no invisible characters.
 */
function fileName(name: string, mediaType: ProofMediaType): string {
  const withoutExtension = toSingleLine(name).replace(/\.[A-Za-z0-9]{1,10}$/, '')
  const base = withoutExtension.replace(/[\u200c\u200d]/g, '').replace(/[./\\:*?"<>|]+/g, ' ')
  const characters = [...base.replace(/ +/g, ' ').trim()]
  return `${characters.slice(0, MAX_NAME_LENGTH).join('').trim() || 'file'}.${EXTENSIONS[mediaType]}`
}

/** Recognises the type of a file by its content, checks it, and removes metadata of images. Do this outside of transactions: it takes time. */
export function readContent(base64: string): CheckedContent {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > MAX_FILE_BYTES)
    throw problem(
      'PAYLOAD_TOO_LARGE',
      `The file is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB. Send a smaller file.`,
    )
  const image = readImage(bytes)
  if (image) {
    if (image.isAnimated) throw invalidFileProblem('The image is animated. Send a still image.')
    if (image.width * image.height > MAX_PIXELS)
      throw invalidFileProblem(
        `The image has more than ${MAX_PIXELS / 1_000_000} million pixels. Send a smaller image.`,
      )
    const content = stripMetadata(bytes, image.type)
    if (!content) throw invalidFileProblem('The image is damaged. Send another file.')
    return { mediaType: image.type, content }
  }
  const check = checkPdf(bytes)
  if (check === 'unsafe')
    throw invalidFileProblem(
      'The PDF file contains scripts, forms or attachments, is encrypted, or cannot be checked. Send a PDF file without them.',
    )
  if (check === 'not a PDF')
    throw invalidFileProblem('The file is not a JPEG, PNG, WebP or PDF file. Send one of these.')
  return { mediaType: 'application/pdf', content: bytes }
}

function invalidFileProblem(message: string) {
  return problem('INVALID_FILE', message)
}

export async function deleteProofFile(tx: Tx, session: Session, fileId: string): Promise<void> {
  requireUnlocked(session)
  const { rows } = await sql`
    delete from proof_files where file_id = ${fileId} and verification_id = ${session.id} returning 1`.execute(tx)
  if (rows.length === 0) throw fileNotFoundProblem(fileId)
}

/** Returns the files of a session, oldest first, without their content. */
export async function listProofFiles(
  queries: Queries,
  { id, personKey }: Pick<Session, 'id' | 'personKey'>,
): Promise<ProofFile[]> {
  const rows = await queries
    .selectFrom('proof_files')
    .select(['file_id', 'source', 'media_type', 'size', 'personal', 'created_at'])
    .where('verification_id', '=', id)
    .orderBy('created_at')
    .orderBy('file_id')
    .execute()
  return rows.flatMap(({ file_id, source, media_type, size, personal, created_at }) => {
    const name = openPersonal<string>(personKey, personal, namePurpose(file_id))
    if (name === undefined) return []
    return [
      {
        id: file_id,
        source: source as SourceKey,
        name,
        mediaType: media_type as ProofMediaType,
        size,
        createdAt: created_at.getTime(),
      },
    ]
  })
}

/** Returns the files for the reviewer: those of the items that the student has chosen. */
export async function listChosenProofFiles(queries: Queries, session: Session): Promise<ProofFile[]> {
  const files = await listProofFiles(queries, session)
  return files.filter(({ source }) => session.sources.includes(source))
}

/** Returns the content of a file in Base64. */
export async function getProofFileContent(
  queries: Queries,
  { id, personKey }: { id: string; personKey: PersonKey },
  fileId: string,
): Promise<{ fileId: string; mediaType: ProofMediaType; content: string }> {
  const row = await queries
    .selectFrom('proof_files')
    .select(['media_type', 'content'])
    .where('file_id', '=', fileId)
    .where('verification_id', '=', id)
    .executeTakeFirst()
  const content = row && openPersonal<string>(personKey, row.content, contentPurpose(fileId))
  if (!row || content === undefined) throw fileNotFoundProblem(fileId)
  return { fileId, mediaType: row.media_type as ProofMediaType, content }
}

/** Deletes the files of erased students. Without the key they are unreadable, but they would still take up space. */
export async function deleteProofFilesOf(tx: Tx, verificationIds: string[]): Promise<void> {
  await sql`delete from proof_files where verification_id = any (${verificationIds})`.execute(tx)
}

export function proofFileRecord({ id, source, name, mediaType, size, createdAt }: ProofFile) {
  const separator = source.indexOf(' ')
  return {
    fileId: id,
    sourceType: source.slice(0, separator) as 'experience' | 'project' | 'certificate',
    externalId: source.slice(separator + 1),
    name,
    mediaType,
    size,
    createdAt: new Date(createdAt).toISOString(),
  }
}

export function fileNotFoundProblem(fileId: string) {
  return problem('NOT_FOUND', `File ${fileId.slice(0, 60)} not found.`)
}

function namePurpose(fileId: string) {
  return `name of ${fileId}`
}

function contentPurpose(fileId: string) {
  return `content of ${fileId}`
}
