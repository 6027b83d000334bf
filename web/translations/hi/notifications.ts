export default {
  'Only members of the organisation get notifications. <link>View the alerts of this server</link>':
    'सूचनाएँ केवल संगठन के सदस्यों को मिलती हैं। <link>इस सर्वर के अलर्ट देखें</link>',
  'A day without anything new sends no email. TEST mode sends none.':
    'जिस दिन कुछ नया न हो, उस दिन ईमेल नहीं जाता। टेस्ट मोड में कोई ईमेल नहीं जाता।',
  'A skill that you asked for was added or rejected.': 'आपका माँगा हुआ कौशल जोड़ा गया या अस्वीकृत हुआ।',
  'A webhook endpoint, a channel or a report to an applicant tracking system fails.':
    'कोई वेबहुक एंडपॉइंट, चैनल या ATS को भेजी गई रिपोर्ट विफल होती है।',
  'Candidates who qualified, are undecided, or ended without qualifying.':
    'उम्मीदवार जो योग्य पाए गए, जिनके बारे में निर्णय नहीं हो पाया, या जिनकी बातचीत समाप्त हुई पर वे योग्य नहीं पाए गए।',
  Assignments: 'सौंपे गए उम्मीदवार',
  'Candidates that others assign to you.': 'उम्मीदवार जिन्हें दूसरे सदस्य आपको सौंपते हैं।',
  'Email a summary every day': 'हर दिन सारांश ईमेल करें',
  'Email failures immediately': 'विफलताओं का ईमेल तुरंत भेजें',
  'Emails about LIVE mode': 'लाइव मोड के ईमेल',
  Failures: 'विफलताएँ',
  'Fewer than 100 credits are left, or none.': '100 से कम क्रेडिट बचे हैं, या एक भी नहीं।',
  Hour: 'समय',
  'Kinds, in the console and by email': 'सूचनाओं के प्रकार, कंसोल में और ईमेल से',
  'Mark all as read': 'सभी को पढ़ा हुआ चिह्नित करें',
  'No notifications. Results, assignments, failures, low credits and decided skill requests appear here for 90 days.':
    'कोई सूचना नहीं। नतीजे, सौंपे गए उम्मीदवार, विफलताएँ, कम क्रेडिट और निपटाए गए कौशल अनुरोध यहाँ 90 दिन तक दिखते हैं।',
  Notifications: 'सूचनाएँ',
  Results: 'नतीजे',
  'Save choice': 'पसंद सहेजें',
  'Time zone': 'टाइम ज़ोन',
  Unread: 'अपठित',
  'What you get': 'आपको क्या मिलता है',
}
