export default {
  '{first}, then {second}': '{first}, फिर {second}',
  'Questions, in this order': 'सवाल, इसी क्रम में',
  'Edit workflow': 'वर्कफ़्लो बदलें',
  workflow: 'वर्कफ़्लो',
  'The name that your colleagues see.': 'यह नाम आपके सहकर्मियों को दिखता है।',
  'Each job can override this selection.': 'हर जॉब में यह चयन बदला जा सकता है।',
  'Channels, in order of use': 'चैनल, उपयोग के क्रम में',
  'Move up: {channel}': 'ऊपर ले जाएँ: {channel}',
  'Move up': 'ऊपर ले जाएँ',
  'Remove {channel}': '{channel} हटाएँ',
  'Add {channel}': '{channel} जोड़ें',
  'If a message cannot be delivered, the next channel is used.': 'अगर कोई संदेश नहीं पहुँच पाता, तो अगला चैनल इस्तेमाल होता है।',
  'First language': 'पहली भाषा',
  'If you select several languages, candidates choose theirs first.':
    'अगर आप कई भाषाएँ चुनते हैं, तो उम्मीदवार पहले अपनी भाषा चुनते हैं।',
  'Follow-ups for candidates who do not answer': 'जवाब न देने वाले उम्मीदवारों के लिए फ़ॉलो-अप',
  'Hours without an answer': 'जवाब के बिना बीते घंटे',
  'Remove follow-up {number}': 'फ़ॉलो-अप {number} हटाएँ',
  'Add follow-up': 'फ़ॉलो-अप जोड़ें',
  'Follow-ups stop at the first reply and are sent between 09:00 and 20:00 Indian time.':
    'पहला जवाब मिलते ही फ़ॉलो-अप बंद हो जाते हैं। वे भारतीय समय के अनुसार 09:00 से 20:00 बजे के बीच भेजे जाते हैं।',
  'None: candidates who do not answer the first message are not contacted again':
    'कोई नहीं: पहले संदेश का जवाब न देने वाले उम्मीदवारों से फिर संपर्क नहीं किया जाता',
  'after {hours} h via {channel}': '{hours} घंटे बाद {channel} से',
  'Archive “{name}”?': '“{name}” संग्रहित करें?',
  'Archive workflow': 'वर्कफ़्लो संग्रहित करें',
  'No new job can use this workflow. Nothing is deleted, but archiving cannot be undone.':
    'कोई नई जॉब इस वर्कफ़्लो का इस्तेमाल नहीं कर सकेगी। कुछ भी हटाया नहीं जाएगा, लेकिन संग्रहित करना वापस नहीं लिया जा सकता।',
  'A workflow sets how candidates are contacted: channels, languages, follow-ups and types of questions.':
    'वर्कफ़्लो तय करता है कि उम्मीदवारों से कैसे संपर्क किया जाए: चैनल, भाषाएँ, फ़ॉलो-अप और सवालों के प्रकार।',
  'Name or ID': 'नाम या ID',
  Archived: 'संग्रहित',
  workflows: 'वर्कफ़्लो',
  'No workflows yet': 'अभी कोई वर्कफ़्लो नहीं',
  'Every job needs a workflow, which sets how candidates are contacted. You can use one workflow for many jobs.':
    'हर जॉब के लिए एक वर्कफ़्लो चाहिए, जो तय करता है कि उम्मीदवारों से कैसे संपर्क किया जाए। एक वर्कफ़्लो कई जॉब के लिए इस्तेमाल हो सकता है।',
  'Create a workflow': 'वर्कफ़्लो बनाएँ',
  'No workflows match these filters.': 'इन फ़िल्टर से कोई वर्कफ़्लो मेल नहीं खाता।',
}
