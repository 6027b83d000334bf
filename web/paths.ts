/** Every server path that the pages use. */
const VERIFICATION = '/api/v1'

export const paths = {
  verifyPage: (id: string) => `${VERIFICATION}/humanverification/verify-page/${encodeURIComponent(id)}`,
  submitReview: `${VERIFICATION}/humanverification/submit`,
  session: (token: string) => `${VERIFICATION}/verify/${encodeURIComponent(token)}`,
  searchSkills: (text: string) => `${VERIFICATION}/skills/search?q=${encodeURIComponent(text)}`,
  storeSkills: `${VERIFICATION}/step1/storeskills/store`,
  storeMethod: `${VERIFICATION}/step2/verification-method`,
  storeItems: `${VERIFICATION}/step3/store-verification-items/store`,
  storeReviewer: `${VERIFICATION}/storereviewerdetails/store`,
  generateAssessment: `${VERIFICATION}/assessment/generate`,
  submitAssessment: `${VERIFICATION}/assessment/submit`,
  candidate: (token: string) => `${VERIFICATION}/candidate/${encodeURIComponent(token)}`,
}
