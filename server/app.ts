import { callerAddress } from './access/client-address.ts'
import { guardPartnerRoutes } from './access/partner-guards.ts'
import { analyticsRoutes } from './analytics/routes.ts'
import { CATALOGUE_BASE, CONSOLE_BASE, PARTNER_BASE, VERIFICATION_BASE } from './api/envelope.ts'
import { adapterNames } from './ats/adapter.ts'
import { reportPageRoutes } from './ats/reports/report-page.ts'
import { atsBase, atsRoutes } from './ats/routes.ts'
import { brandRoutes } from './branding/routes.ts'
import { candidatePageRoutes } from './campaigns/candidate-page/page-routes.ts'
import { CANDIDATE_BASE, candidateRoutes } from './campaigns/candidate-page/routes.ts'
import { createMessageReportHandler } from './campaigns/contact/email-reports.ts'
import { createInboundHandler } from './campaigns/contact/inbound.ts'
import { findUnsubscribingCandidate } from './campaigns/contact/unsubscribe.ts'
import { candidateEmbedRoutes } from './campaigns/embed-routes.ts'
import { campaignRoutes, creditRoutes } from './campaigns/routes.ts'
import { spendingRoutes } from './campaigns/spending/routes.ts'
import { catalogueAdminRoutes } from './catalogue/public/admin-routes.ts'
import { importAdminRoutes } from './catalogue/public/import-admin-routes.ts'
import { publicSkillRoutes, selectedSkillRoutes } from './catalogue/public/routes.ts'
import { skillAdminRoutes } from './catalogue/public/skill-admin-routes.ts'
import { limitPublicRequests } from './catalogue/public/visitor-limits.ts'
import { skillRequestRoutes, skillRoutes } from './catalogue/routes.ts'
import { HOOKS_BASE, inboundRoutes } from './channels/inbound-routes.ts'
import { consolePageRoutes } from './console/html.ts'
import { findUnsubscribingMember } from './console/notifications/digests.ts'
import { consoleRoutes } from './console/routes.ts'
import { SCIM_BASE } from './console/scim/paths.ts'
import { scimRoutes } from './console/scim/routes.ts'
import type { Context } from './context.ts'
import { credentialCheckRoutes } from './credentials/check-routes.ts'
import { candidateCredentialRoutes, sessionCredentialRoutes } from './credentials/holders/consent-routes.ts'
import { holderRoutes } from './credentials/holders/holder-routes.ts'
import { linkRequestRoutes } from './credentials/link-requests/routes.ts'
import { credentialPageRoutes } from './credentials/pages/page-routes.ts'
import { issuerRoutes } from './credentials/public-routes.ts'
import { credentialRoutes } from './credentials/routes.ts'
import { walletRoutes } from './credentials/wallet/routes.ts'
import { docsRoutes } from './docs/routes.ts'
import { embedPageRoutes, embedRoutes } from './embeds/page-routes.ts'
import { eventRoutes } from './events/routes.ts'
import { itemRoutes } from './items/routes.ts'
import { reportRoutes } from './mail/report-routes.ts'
import { type FindUnsubscribeTarget, findUnsubscribingRecipient } from './mail/unsubscribe.ts'
import { unsubscribeRoutes } from './mail/unsubscribe-routes.ts'
import { mandateRoutes } from './mandates/routes.ts'
import { peopleRoutes } from './people/routes.ts'
import { lookupRoutes } from './places/routes.ts'
import { bodyTimeoutMs, EMPTY_BODY, hasBody, MAX_BODY_BYTES, readBody } from './platform/http/body.ts'
import { healthRoutes } from './platform/http/health.ts'
import { parseJson } from './platform/http/json.ts'
import { shedLoad } from './platform/http/load-shedding.ts'
import { readFromReplica } from './platform/http/replica-reads.ts'
import { securityTextRoutes } from './platform/http/security-text.ts'
import { type App, createHttp, validateRequest } from './platform/http/server.ts'
import { yourDataRoutes } from './privacy/routes.ts'
import { embeddedReportRoutes } from './reports/embedded-report-routes.ts'
import { openReportView } from './reports/report-view.ts'
import { sharedReportRoutes } from './reports/shared-report-routes.ts'
import { type LoggedApi, openRequestLogger } from './request-log/request-log.ts'
import { partnerRequestLogRoutes } from './request-log/routes.ts'
import { resultEmbedRoutes } from './results/embed-routes.ts'
import { resultRoutes } from './results/routes.ts'
import { withReviewMessages } from './review-messages/inbound.ts'
import { testClockRoutes } from './test-clocks/routes.ts'
import { assessmentRoutes } from './verification/assessments/routes.ts'
import { studentEmbedRoutes } from './verification/embed-routes.ts'
import { guardianRoutes } from './verification/guardian-routes.ts'
import { guardVerificationRoutes } from './verification/guards.ts'
import { verificationPageRoutes } from './verification/page-routes.ts'
import { proofFileRoutes } from './verification/proofs/routes.ts'
import { reviewRoutes } from './verification/reviews/routes.ts'
import { sessionRoutes, stepRoutes } from './verification/routes.ts'
import { renderErrorPage } from './web-assets/error-page.ts'
import { pageRoutes } from './web-assets/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'
import { workflowRoutes } from './workflows/routes.ts'

/** The published APIs and their routes. */
export const apis: Record<
  'partner' | 'verification' | 'catalogue',
  { base: string; routes: (app: App, context: Context) => void }
> = {
  partner: {
    base: PARTNER_BASE,
    routes(app, context) {
      guardPartnerRoutes(app, context)
      partnerRoutes(app, context)
      partnerRequestLogRoutes(app, context)
      candidateEmbedRoutes(app, context)
      resultEmbedRoutes(app, context)
    },
  },
  verification: {
    base: VERIFICATION_BASE,
    routes(app, context) {
      guardVerificationRoutes(app, context)
      sessionRoutes(app, context)
      stepRoutes(app, context)
      reviewRoutes(app, context)
      assessmentRoutes(app, context)
      sessionCredentialRoutes(app, context)
      guardianRoutes(app, context)
      proofFileRoutes(app, context)
      studentEmbedRoutes(app, context)
    },
  },
  catalogue: {
    base: CATALOGUE_BASE,
    routes(app, context) {
      limitPublicRequests(app, context)
      readJsonBodies(app)
      publicSkillRoutes(app, context)
      selectedSkillRoutes(app, context)
      catalogueAdminRoutes(app, context)
      skillAdminRoutes(app, context)
      importAdminRoutes(app, context)
    },
  },
}

/** Registers the partner API's routes. The console registers them again, behind its own guards. */
function partnerRoutes(app: App, context: Context): void {
  skillRoutes(app, context)
  skillRequestRoutes(app, context)
  lookupRoutes(app, context)
  workflowRoutes(app, context)
  mandateRoutes(app, context)
  itemRoutes(app, context)
  campaignRoutes(app, context)
  testClockRoutes(app, context)
  creditRoutes(app, context)
  spendingRoutes(app, context)
  resultRoutes(app, context)
  credentialRoutes(app, context)
  peopleRoutes(app, context)
  analyticsRoutes(app, context)
  eventRoutes(app, context)
  webhookRoutes(app, context)
}

export function buildApp(context: Context, isDraining: () => boolean = () => false): App {
  const { log, metrics, config } = context
  const app = createHttp({
    log,
    metrics,
    trustProxy: config.trustProxy,
    transport: config,
    telemetry: context.telemetry,
    renderErrorPage,
  })
  if (config.shedLoad)
    shedLoad(app, {
      metrics,
      isAuthenticated: ({ caller, sessionCaller, atsKey }) => Boolean(caller?.key ?? sessionCaller?.scope ?? atsKey),
      callerAddress,
    })
  if (context.db.replica) readFromReplica(app, context.db.replica)
  const requestLogger = openRequestLogger(context)
  app.addHook('onClose', () => requestLogger.close())
  // Long polls for events must not delay the shutdown.
  app.addHook('preClose', async () => context.events.release())
  for (const [name, { base, routes }] of Object.entries(apis)) {
    const registerApi = async (scope: unknown) => {
      if (name !== 'catalogue') requestLogger.attach(scope as App, name as LoggedApi)
      routes(scope as App, context)
    }
    app.register(registerApi, { prefix: base })
  }
  for (const adapter of adapterNames) {
    const registerAdapter = async (scope: unknown) => {
      requestLogger.attach(scope as App, 'ats')
      atsRoutes[adapter](scope as App, context)
    }
    app.register(registerAdapter, { prefix: atsBase(adapter) })
  }
  app.register(async (scope) => {
    const view = openReportView(scope as App, context)
    reportPageRoutes(scope as App, context, view)
    sharedReportRoutes(scope as App, context, view)
    scope.register(async (api) => embeddedReportRoutes(api as App, context, view), { prefix: VERIFICATION_BASE })
  })
  app.register(async (scope) => brandRoutes(scope as App, context))
  app.register(async (scope) => consoleRoutes(scope as App, context, requestLogger, partnerRoutes), {
    prefix: CONSOLE_BASE,
  })
  app.register(async (scope) => scimRoutes(scope as App, context), { prefix: SCIM_BASE })
  app.register(
    async (scope) => {
      candidateRoutes(scope as App, context)
      candidateCredentialRoutes(scope as App, context)
    },
    { prefix: CANDIDATE_BASE },
  )
  app.register(async (scope) => embedRoutes(scope as App, context), { prefix: VERIFICATION_BASE })
  app.register(async (scope) => holderRoutes(scope as App, context), { prefix: VERIFICATION_BASE })
  app.register(async (scope) => yourDataRoutes(scope as App, context), { prefix: VERIFICATION_BASE })
  app.register(async (scope) => credentialCheckRoutes(scope as App, context))
  app.register(async (scope) => linkRequestRoutes(scope as App, context))
  app.register(
    async (scope) => inboundRoutes(scope as App, context, withReviewMessages(context, createInboundHandler(context))),
    {
      prefix: HOOKS_BASE,
    },
  )
  const findUnsubscribeTarget: FindUnsubscribeTarget = async (queries, tokenHash) =>
    (await findUnsubscribingMember()(queries, tokenHash)) ??
    (await findUnsubscribingRecipient(context)(queries, tokenHash)) ??
    (await findUnsubscribingCandidate(context)(queries, tokenHash))
  app.register(async (scope) => unsubscribeRoutes(scope as App, context, findUnsubscribeTarget))
  app.register(
    async (scope) => {
      const handleMessageReport = createMessageReportHandler(context)
      reportRoutes(scope as App, context, { findUnsubscribeTarget, handleMessageReport })
    },
    { prefix: HOOKS_BASE },
  )
  app.register(async (scope) => {
    healthRoutes(scope as App, {
      db: context.db,
      metrics,
      metricsAccess: { ...config.metrics, requireHttps: config.requireHttps },
      isDraining,
    })
    securityTextRoutes(scope as App, context)
    docsRoutes(scope as App, context)
    issuerRoutes(scope as App, context)
    const pages = pageRoutes(scope as App)
    scope.register(async (walletScope) => walletRoutes(walletScope as App, context, pages))
    candidatePageRoutes(scope as App, context, pages)
    verificationPageRoutes(scope as App, context, pages)
    embedPageRoutes(scope as App, context, pages)
    credentialPageRoutes(scope as App, context, pages)
    consolePageRoutes(scope as App, pages)
    scope.addHook('preValidation', async (request) => validateRequest(request, request.routeOptions.config))
  })
  return app
}

function readJsonBodies(app: App) {
  // Most requests have no body: skip the asynchronous read.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (request.is404) return done(null, payload)
    request.rawBody = EMPTY_BODY
    if (!hasBody(request.raw)) return done(null, payload)
    readBody(request.raw, MAX_BODY_BYTES, bodyTimeoutMs.small).then((body) => {
      request.rawBody = body
      done(null, payload)
    }, done)
  })
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.is404) return done()
    try {
      if (request.rawBody.length > 0) request.body = parseJson(request.rawBody)
      validateRequest(request, request.routeOptions.config)
    } catch (error) {
      return done(error as Error)
    }
    done()
  })
}
