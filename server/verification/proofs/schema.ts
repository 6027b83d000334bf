import { type Static, Type } from 'typebox'
import { named } from '../../platform/http/named-schemas.ts'
import { NOT_BLANK_PATTERN } from '../../platform/http/validation.ts'

const MAX_CONTENT_LENGTH = 7_500_000
const mediaTypes = ['image/jpeg', 'image/png', 'image/webp', 'application/pdf'] as const
const sourceType = Type.Enum(['experience', 'project', 'certificate'], {
  description: 'Type of the item that the file is attached to.',
})
const externalId = Type.String({ maxLength: 128, description: 'ID of the item, as sent to `POST /verify`.' })

export const ProofFileInput = named(
  'ProofFileInput',
  Type.Object({
    sourceType,
    externalId,
    name: Type.String({ maxLength: 200, pattern: NOT_BLANK_PATTERN, description: 'Name of the file.' }),
    content: Type.String({
      maxLength: MAX_CONTENT_LENGTH,
      pattern: '^[A-Za-z0-9+/]+={0,2}$',
      description: 'The file in Base64: a JPEG, PNG, WebP or PDF file of at most 5 MB.',
    }),
  }),
)
export type ProofFileInput = Static<typeof ProofFileInput>

export const ProofFile = named(
  'ProofFile',
  Type.Object({
    fileId: Type.String({ description: 'ID of the file, `PF_…`.' }),
    sourceType,
    externalId,
    name: Type.String({ description: 'Name of the file.' }),
    mediaType: Type.Enum([...mediaTypes], { description: 'The type of the file, recognised by its content.' }),
    size: Type.Integer({ description: 'Size in bytes, without the metadata that was removed.' }),
    createdAt: Type.String({ format: 'date-time' }),
  }),
)

export const ProofFileContent = named(
  'ProofFileContent',
  Type.Object({
    fileId: Type.String({ description: 'ID of the file, `PF_…`.' }),
    mediaType: Type.Enum([...mediaTypes], { description: 'The type of the file.' }),
    content: Type.String({ description: 'The file in Base64.' }),
  }),
)

export const DeletedProofFile = named(
  'DeletedProofFile',
  Type.Object({ fileId: Type.String({ description: 'ID of the deleted file, `PF_…`.' }) }),
)

export const FileParams = Type.Object({
  sessionToken: Type.String({ description: 'The session token, `vst_…`, returned by `POST /verify`.' }),
  fileId: Type.String({ maxLength: 60, description: 'ID of the file, `PF_…`.' }),
})

export const ReviewFileInput = named(
  'ReviewFileInput',
  Type.Object({
    serviceVerificationId: Type.String({ description: 'The verification ID, `SV_…`.' }),
    token: Type.String({ description: 'The token from the link in the email to the reviewer.' }),
    fileId: Type.String({ maxLength: 60, description: 'ID of the file, `PF_…`.' }),
  }),
)
