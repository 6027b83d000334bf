/** Texts of the email that tells a student the outcome of a review, in the languages of the student's page. */

export const outcomeLanguages = ['en', 'hi'] as const
export type OutcomeLanguage = (typeof outcomeLanguages)[number]

interface Announcement {
  subject: string
  intro: string
}

interface OutcomeTexts {
  greeting: (student: string) => string
  verdict: (isConfirmed: boolean, rating: number | undefined) => string
  reviewed: (reviewer: string) => Announcement
  declined: (reviewer: string) => Announcement
  withdrawn: (reviewer: string, byReviewer: boolean) => Announcement
  /** Follows the reason of a declined or withdrawn review. */
  nextStep: string
}

export const OUTCOME_TEXTS: Record<OutcomeLanguage, OutcomeTexts> = {
  en: {
    greeting: (student) => `Hello ${student},`,
    verdict: (isConfirmed, rating) =>
      `${isConfirmed ? 'confirmed' : 'not confirmed'}${rating === undefined ? '' : `, ${rating} of 5`}`,
    reviewed: (reviewer) => ({
      subject: `${reviewer} has reviewed your skills`,
      intro: `${reviewer} has submitted the review of your skills. The result:`,
    }),
    declined: (reviewer) => ({
      subject: `${reviewer} could not review your skills`,
      intro: `${reviewer} declined to review your skills. Their reason:`,
    }),
    withdrawn: (reviewer, byReviewer) => ({
      subject: byReviewer
        ? `${reviewer} has withdrawn the confirmation of your skills`
        : `The confirmation of your skills by ${reviewer} has been withdrawn`,
      intro: `${byReviewer ? `${reviewer} has withdrawn the confirmation` : `The confirmation by ${reviewer} has been withdrawn`}. Your skills are no longer verified by it, and credentials based on it have been revoked. The reason:`,
    }),
    nextStep: 'You can ask someone else: start a new verification on the site where you started this one.',
  },
  hi: {
    greeting: (student) => `नमस्ते ${student},`,
    verdict: (isConfirmed, rating) =>
      `${isConfirmed ? 'पुष्टि हुई' : 'पुष्टि नहीं हुई'}${rating === undefined ? '' : `, 5 में से ${rating}`}`,
    reviewed: (reviewer) => ({
      subject: `${reviewer} ने आपके हुनर की समीक्षा की है`,
      intro: `${reviewer} ने आपके हुनर की समीक्षा भेज दी है। नतीजा:`,
    }),
    declined: (reviewer) => ({
      subject: `${reviewer} आपके हुनर की समीक्षा नहीं कर सके`,
      intro: `${reviewer} ने आपके हुनर की समीक्षा करने से मना किया है। उनका कारण:`,
    }),
    withdrawn: (reviewer, byReviewer) => {
      const subject = byReviewer
        ? `${reviewer} ने आपके हुनर की पुष्टि वापस ले ली है`
        : `${reviewer} द्वारा की गई आपके हुनर की पुष्टि वापस ले ली गई है`
      return {
        subject,
        intro: `${subject}। आपके हुनर अब इससे सत्यापित नहीं हैं, और इस पर आधारित प्रमाणपत्र रद्द कर दिए गए हैं। कारण:`,
      }
    },
    nextStep: 'आप किसी और से अनुरोध कर सकते हैं: जिस साइट पर आपने यह सत्यापन शुरू किया था, वहाँ नया सत्यापन शुरू करें।',
  },
}
