import { serveDrawings } from '../platform/drawing/drawing-thread.ts'
import { renderReportPdf } from './report-pdf.ts'

serveDrawings(renderReportPdf)
