/** Every server path that the pages use. */
const VERIFICATION_API = '/api/v1'

export const paths = {
  verifyPage: (id: string) => `${VERIFICATION_API}/humanverification/verify-page/${encodeURIComponent(id)}`,
  submitReview: `${VERIFICATION_API}/humanverification/submit`,
  reviewFile: `${VERIFICATION_API}/humanverification/file`,
  withdrawEndorsement: `${VERIFICATION_API}/humanverification/withdraw`,
  session: (token: string) => `${VERIFICATION_API}/verify/${encodeURIComponent(token)}`,
  searchSkills: (text: string) => `${VERIFICATION_API}/skills/search?q=${encodeURIComponent(text)}`,
  storeSkills: `${VERIFICATION_API}/step1/storeskills/store`,
  storeMethod: `${VERIFICATION_API}/step2/verification-method`,
  storeItems: `${VERIFICATION_API}/step3/store-verification-items/store`,
  storeReviewer: `${VERIFICATION_API}/storereviewerdetails/store`,
  generateAssessment: `${VERIFICATION_API}/assessment/generate`,
  submitAssessment: `${VERIFICATION_API}/assessment/submit`,
  credentialHolder: (id: string) => `/credentials/${encodeURIComponent(id)}/holder`,
  credentialTexts: (language: string) => `/credentials/texts/${language}`,
  checkCredential: '/credentials/verify',
  holderLinks: '/credentials/links',
  holder: `${VERIFICATION_API}/holder`,
  learnerRecord: `${VERIFICATION_API}/holder/clr`,
  sessionFiles: (token: string) => `${VERIFICATION_API}/verify/${encodeURIComponent(token)}/files`,
  sessionFile: (token: string, fileId: string) =>
    `${VERIFICATION_API}/verify/${encodeURIComponent(token)}/files/${fileId}`,
  sessionAge: (token: string) => `${VERIFICATION_API}/verify/${encodeURIComponent(token)}/age`,
  sessionGuardian: (token: string) => `${VERIFICATION_API}/verify/${encodeURIComponent(token)}/guardian`,
  sessionCredentials: (token: string) => `${VERIFICATION_API}/verify/${encodeURIComponent(token)}/credentials`,
  candidateCredentials: (token: string) => `${VERIFICATION_API}/candidate/${encodeURIComponent(token)}/credentials`,
  yourData: (kind: string) => `${VERIFICATION_API}/your-data/${encodeURIComponent(kind)}`,
  openEmbed: (embedId: string) => `${VERIFICATION_API}/embed/${encodeURIComponent(embedId)}/open`,
  embeddedReport: `${VERIFICATION_API}/embedded-report`,
  candidate: (token: string) => `${VERIFICATION_API}/candidate/${encodeURIComponent(token)}`,
}
