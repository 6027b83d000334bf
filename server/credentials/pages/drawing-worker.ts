import { serveDrawings } from '../../platform/drawing/drawing-thread.ts'
import { renderCredentialPdf } from './credential-pdf.ts'
import { renderCredentialPicture } from './credential-picture.ts'
import type { DrawingInput } from './drawings.ts'

serveDrawings(({ format, credential, options }: DrawingInput) =>
  format === 'pdf' ? renderCredentialPdf(credential, options) : renderCredentialPicture(credential, options),
)
