export default {
  'Only members of the organisation get notifications. <link>View the alerts of this server</link>':
    'सूचनाएँ केवल संगठन के सदस्यों को मिलती हैं। <link>इस सर्वर के अलर्ट देखें</link>',
  'A day without anything new sends no email. TEST mode sends none.':
    'जिस दिन कुछ नया न हो, उस दिन ईमेल नहीं आता। टेस्ट मोड में कोई ईमेल नहीं भेजा जाता।',
  'A skill that you asked for was added or rejected.': 'जब आपका माँगा हुआ कौशल जोड़ा जाए या उसका अनुरोध अस्वीकार हो।',
  'A webhook endpoint, a channel or a report to an applicant tracking system fails.':
    'जब कोई वेबहुक एंडपॉइंट या चैनल काम न करे, या ATS को रिपोर्ट न भेजी जा सके।',
  'Candidates who qualified, are undecided, or ended without qualifying.':
    'जब उम्मीदवार योग्य पाए जाएँ, उनका नतीजा तय न हो पाए, या बातचीत समाप्त हो जाए पर वे योग्य न पाए जाएँ।',
  '1 candidate qualified in “{campaign}”': '“{campaign}” में 1 उम्मीदवार योग्य पाया गया',
  '{count} candidates qualified in “{campaign}”': '“{campaign}” में {count} उम्मीदवार योग्य पाए गए',
  '1 candidate is undecided in “{campaign}”': '“{campaign}” में 1 उम्मीदवार का नतीजा तय नहीं हो पाया',
  '{count} candidates are undecided in “{campaign}”': '“{campaign}” में {count} उम्मीदवारों का नतीजा तय नहीं हो पाया',
  '1 candidate ended without qualifying in “{campaign}”':
    '“{campaign}” में 1 उम्मीदवार की बातचीत समाप्त हुई, पर वह योग्य नहीं पाया गया',
  '{count} candidates ended without qualifying in “{campaign}”':
    '“{campaign}” में {count} उम्मीदवारों की बातचीत समाप्त हुई, पर वे योग्य नहीं पाए गए',
  '1 candidate was assigned to you': 'आपको 1 उम्मीदवार सौंपा गया',
  '{count} candidates were assigned to you': 'आपको {count} उम्मीदवार सौंपे गए',
  'All deliveries to the webhook endpoint {url} have failed for a day':
    'वेबहुक एंडपॉइंट {url} पर एक दिन से कोई डिलीवरी सफल नहीं हुई है',
  'A report to {system} failed and will not be retried':
    '{system} को एक रिपोर्ट नहीं भेजी जा सकी, और वह दोबारा नहीं भेजी जाएगी',
  '{count} reports to {system} failed and will not be retried':
    '{system} को {count} रिपोर्ट नहीं भेजी जा सकीं, और वे दोबारा नहीं भेजी जाएँगी',
  'Credits are low: {balance} left': 'क्रेडिट कम हैं: केवल {balance} बाकी',
  'No credits are left: candidates cannot be enrolled': 'एक भी क्रेडिट नहीं बचा है: अब उम्मीदवार नहीं जोड़े जा सकते',
  'The requested skill “{name}” is in the catalogue as “{skill}”':
    'माँगा गया कौशल “{name}” कैटलॉग में “{skill}” नाम से मौजूद है',
  'The skill “{name}” was added to the catalogue': 'कौशल “{name}” कैटलॉग में जोड़ दिया गया है',
  'The request for the skill “{name}” was rejected: {reason}': 'कौशल “{name}” जोड़ने का अनुरोध अस्वीकार किया गया: {reason}',
  'The request for the skill “{name}” was rejected': 'कौशल “{name}” जोड़ने का अनुरोध अस्वीकार किया गया',
  Assignments: 'सौंपे गए उम्मीदवार',
  'Candidates that others assign to you.': 'जब कोई दूसरा सदस्य आपको उम्मीदवार सौंपे।',
  'Email a summary every day': 'हर दिन ईमेल से सारांश भेजें',
  'Email failures immediately': 'कुछ विफल होते ही ईमेल भेजें',
  'Emails about LIVE mode': 'लाइव मोड के बारे में ईमेल',
  Failures: 'विफलताएँ',
  'Fewer than 100 credits are left, or none.': 'जब 100 से कम क्रेडिट बचें, या एक भी न बचे।',
  Hour: 'समय',
  'Kinds, in the console and by email': 'किस तरह की सूचनाएँ चाहिए, कंसोल में और ईमेल से',
  'Mark all as read': 'सभी को पढ़ा हुआ मार्क करें',
  'No notifications. Results, assignments, failures, low credits and decided skill requests appear here for 90 days.':
    'अभी कोई सूचना नहीं। नतीजों, सौंपे गए उम्मीदवारों, विफलताओं, कम क्रेडिट और कौशल के अनुरोधों पर हुए फ़ैसलों की सूचनाएँ यहाँ 90 दिन तक दिखती हैं।',
  Notifications: 'सूचनाएँ',
  Results: 'नतीजे',
  'Save choice': 'पसंद सहेजें',
  'Time zone': 'टाइम ज़ोन',
  Unread: 'नहीं पढ़ी',
  'What you get': 'आपको कौन सी सूचनाएँ मिलें',
  'Emails are in the language that you chose for the console.': 'ईमेल उसी भाषा में आते हैं जो आपने कंसोल के लिए चुनी है।',
  'WhatsApp messages fail: {reason}': 'WhatsApp संदेश नहीं पहुँच रहे हैं: {reason}',
  'Calls fail: {reason}': 'कॉल नहीं लग रही हैं: {reason}',
  'SMS fail: {reason}': 'SMS नहीं पहुँच रहे हैं: {reason}',
  'Emails to candidates fail: {reason}': 'उम्मीदवारों को ईमेल नहीं पहुँच रहे हैं: {reason}',
  'The number or address cannot receive messages': 'इस नंबर या पते पर संदेश नहीं पहुँच सकते',
  'The call was not answered, or the phone was busy': 'कॉल का जवाब नहीं मिला, या फ़ोन व्यस्त था',
  'The phone was switched off, full or out of reach': 'फ़ोन बंद था, नेटवर्क से बाहर था, या उसमें जगह नहीं थी',
  'The person has opted out': 'व्यक्ति ने संदेश बंद करवाए हैं',
  'WhatsApp withheld a marketing message from a person who gets many of them':
    'WhatsApp ने मार्केटिंग संदेश रोक लिया, क्योंकि इस व्यक्ति को ऐसे बहुत से संदेश मिलते हैं',
  'More than 24 hours have passed since the last message of the person': 'व्यक्ति का पिछला संदेश 24 घंटे से ज़्यादा पुराना है',
  'The template is missing, not approved, paused or different from the text':
    'टेम्पलेट मौजूद नहीं है, स्वीकृत नहीं है, रुका हुआ है, या संदेश से मेल नहीं खाता',
  'The DLT entity is not registered or not active': 'DLT एंटिटी रजिस्टर नहीं है, या सक्रिय नहीं है',
  'Your entity is not linked to the SMS provider in the DLT portal': 'DLT पोर्टल में आपकी एंटिटी SMS प्रोवाइडर से जुड़ी नहीं है',
  'The sender header is not registered or not active': 'सेंडर हेडर रजिस्टर नहीं है, या सक्रिय नहीं है',
  'The person has blocked such messages (DND), or their consent is missing':
    'व्यक्ति ने ऐसे संदेश रोक रखे हैं (DND), या उसकी सहमति नहीं है',
  'The mobile operator does not deliver such messages at this hour': 'मोबाइल ऑपरेटर इस समय ऐसे संदेश नहीं पहुँचाता',
  'The mobile operator filtered the message as spam or because of its link or sender':
    'मोबाइल ऑपरेटर ने संदेश को स्पैम मानकर, या उसके लिंक या सेंडर के कारण रोक दिया',
  'The provider cannot send such messages to this country': 'प्रोवाइडर इस देश में ऐसे संदेश नहीं भेज सकता',
  'The provider rejected the account or its credentials': 'प्रोवाइडर ने खाता या उसके क्रेडेंशियल स्वीकार नहीं किए',
  'The provider was overloaded or its rate limit was exceeded for too long':
    'प्रोवाइडर देर तक व्यस्त रहा, या उसकी दर सीमा पार हो गई',
  'Another error of the provider': 'प्रोवाइडर की कोई और गड़बड़ी',
}
