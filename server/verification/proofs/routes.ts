import type { Context } from '../../context.ts'
import { type App, validateRequest } from '../../platform/http/server.ts'
import { requireField } from '../fields.ts'
import { lockReview, requirePendingReview } from '../reviews/review-submission.ts'
import { success, toStorableId } from '../routes.ts'
import { successResponse, TokenParams } from '../schema.ts'
import { lockSession, requireUnrestricted } from '../sessions.ts'
import {
  deleteProofFile,
  fileNotFoundProblem,
  getProofFileContent,
  listChosenProofFiles,
  proofFileRecord,
  readContent,
  requireFileAllowed,
  storeProofFile,
} from './proof-files.ts'
import { DeletedProofFile, FileParams, ProofFile, ProofFileContent, ProofFileInput, ReviewFileInput } from './schema.ts'

/** The file in Base64, and the other fields. */
const MAX_UPLOAD_BYTES = 7_600_000

/** Routes for photos and documents that students show to their reviewer. */
export function proofFileRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const tags = ['Files']

  app.post(
    '/verify/:sessionToken/files',
    {
      config: {
        auth: 'path',
        maxUploadBytes: MAX_UPLOAD_BYTES,
        errors: ['INVALID_FILE', 'UNKNOWN_ITEM', 'SESSION_LOCKED', 'TOO_MANY_FILES'],
      },
      schema: {
        operationId: 'addProofFile',
        tags,
        summary: 'Add a proof file',
        description:
          'Attaches a photo or document to a project, work experience or certificate of the session. The reviewer sees the files of the items that were stored in step 3. Metadata such as place and time is removed from images. A PDF file is rejected if a script, a form in XML, another file or encryption is found in it; this is not a virus scan. The name gets the extension of the detected type. Files are deleted 30 days after the end of the session. A session can have at most 5 files of at most 5 MB each.',
        params: TokenParams,
        body: ProofFileInput,
        response: { 201: successResponse(ProofFile) },
      },
    },
    async (request, reply) => {
      const { sessionCaller, routeOptions } = request
      await db.transaction(async (tx) => {
        const session = await lockSession(tx, clock, sessionCaller.token!, sessionCaller.scope)
        validateRequest(request, routeOptions.config)
        await requireFileAllowed(tx, session, request.body)
      })
      const content = readContent(request.body.content)
      const file = await db.transaction(async (tx) => {
        const session = await lockSession(tx, clock, sessionCaller.token!, sessionCaller.scope)
        return storeProofFile(tx, session, request.body, content)
      })
      return reply.status(201).send(success(proofFileRecord(file), 'File stored'))
    },
  )

  app.delete(
    '/verify/:sessionToken/files/:fileId',
    {
      config: { auth: 'path', errors: ['NOT_FOUND', 'SESSION_LOCKED'] },
      schema: {
        operationId: 'deleteProofFile',
        tags,
        summary: 'Delete a proof file',
        description: 'Files cannot be deleted after the review was requested.',
        params: FileParams,
        response: { 200: successResponse(DeletedProofFile) },
      },
    },
    async ({ sessionCaller, params }) => {
      const fileId = toStorableId(params.fileId)
      await db.transaction(async (tx) => {
        const session = await lockSession(tx, clock, sessionCaller.token!, sessionCaller.scope)
        await deleteProofFile(tx, session, fileId)
      })
      return success({ fileId }, 'File deleted')
    },
  )

  app.post(
    '/humanverification/file',
    {
      config: {
        auth: 'link',
        errors: [
          'MISSING_VERIFICATION_ID',
          'INVALID_TOKEN',
          'VERIFICATION_NOT_FOUND',
          'ALREADY_SUBMITTED',
          'DATA_ERASED',
          'LINK_EXPIRED',
          'NOT_FOUND',
        ],
      },
      schema: {
        operationId: 'getProofFile',
        tags,
        summary: 'Get a proof file',
        description:
          'Requires the token from the link in the email to the reviewer, and works until the review is submitted. Returns the content in Base64, so that browsers never open it as a page of this server.',
        body: ReviewFileInput,
        response: { 200: successResponse(ProofFileContent) },
      },
    },
    async (request) => {
      const { body, routeOptions } = request
      requireField(body, 'serviceVerificationId', 'MISSING_VERIFICATION_ID')
      const file = await db.transaction(async (tx) => {
        const verificationId = toStorableId(String(body.serviceVerificationId))
        const { session, review } = await lockReview(tx, clock, verificationId, body.token)
        validateRequest(request, routeOptions.config)
        requirePendingReview(review, session.clock.now())
        await requireUnrestricted(tx, review)
        await requireUnrestricted(tx, session)
        const shown = await listChosenProofFiles(tx, session)
        if (!shown.some(({ id }) => id === body.fileId)) throw fileNotFoundProblem(body.fileId)
        return getProofFileContent(tx, session, body.fileId)
      })
      return success(file, 'File')
    },
  )
}
