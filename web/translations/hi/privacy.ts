export default {
  'Texts of the messages of candidates, after the end of the conversation.':
    'उम्मीदवारों के संदेशों के टेक्स्ट, बातचीत समाप्त होने के बाद।',
  'Free-text answers of candidates, after the end of the conversation. Verdicts and scores remain. Events have a copy for 30 days.':
    'उम्मीदवारों के अपने शब्दों में दिए जवाब, बातचीत समाप्त होने के बाद। निर्णय और अंक बने रहते हैं। इवेंट में इनकी प्रति 30 दिन रहती है।',
  'Names, phone numbers, email addresses and everything else about a person, after the last activity.':
    'नाम, फ़ोन नंबर, ईमेल पते और व्यक्ति के बारे में बाकी सब कुछ, आखिरी गतिविधि के बाद।',
  'Emails to people, after they were created.': 'लोगों को भेजे गए ईमेल, बनाए जाने के बाद।',
  'Log of API requests, after the request.': 'API रिक्वेस्ट का लॉग, रिक्वेस्ट के बाद।',
  'Names, addresses and devices in the audit log, after the entry. The entries themselves remain.':
    'ऑडिट लॉग में नाम, पते और डिवाइस, प्रविष्टि के बाद। प्रविष्टियाँ बनी रहती हैं।',
  Privacy: 'गोपनीयता',
  'Person or team for complaints': 'शिकायतों के लिए व्यक्ति या टीम',
  'Email address for complaints': 'शिकायतों के लिए ईमेल पता',
  'Phone number for complaints': 'शिकायतों के लिए फ़ोन नंबर',
  'Email address for questions about personal data': 'निजी डेटा से जुड़े सवालों के लिए ईमेल पता',
  'Postal address': 'डाक पता',
  'Where people agreed or applied, such as the name of a form': 'लोगों ने कहाँ सहमति दी या आवेदन किया, जैसे किसी फ़ॉर्म का नाम',
  'Version of the text that people agreed to (optional)': 'जिस टेक्स्ट पर लोगों ने सहमति दी, उसका संस्करण (वैकल्पिक)',
  'Not declared': 'घोषित नहीं',
  'Each LIVE candidate needs a consent at enrolment.': 'हर लाइव उम्मीदवार को जोड़ते समय सहमति ज़रूरी है।',
  'The person agreed to be contacted about jobs': 'व्यक्ति ने जॉब के बारे में संपर्क किए जाने की सहमति दी',
  'The person applied for a job with us': 'व्यक्ति ने हमारे यहाँ जॉब के लिए आवेदन किया',
  'Another use that the law allows without consent': 'कोई और इस्तेमाल जिसकी अनुमति कानून बिना सहमति के देता है',
  'The notice has no contact for complaints yet. Enter an email address or a phone number.':
    'गोपनीयता सूचना में अभी शिकायतों के लिए कोई संपर्क नहीं है। ईमेल पता या फ़ोन नंबर दर्ज करें।',
  'Why you may contact candidates in LIVE mode': 'लाइव मोड में आप उम्मीदवारों से संपर्क क्यों कर सकते हैं',
  "Number of days for which candidates' links work after the campaign": 'अभियान के बाद उम्मीदवारों के लिंक कितने दिन काम करें',
  'Students below 18 need the consent of a guardian': '18 साल से कम उम्र के छात्रों के लिए अभिभावक की सहमति ज़रूरी है',
  'Privacy settings saved.': 'गोपनीयता सेटिंग सहेजी गई।',
  'Save privacy settings': 'गोपनीयता सेटिंग सहेजें',
  'See the data': 'डेटा देखना',
  'Erase the data': 'डेटा मिटाना',
  'Withdraw consent': 'सहमति वापस लेना',
  'The notice that candidates, students and reviewers see shows these contacts. On the same page, people can see, correct and erase their data.':
    'उम्मीदवारों, छात्रों और समीक्षकों को दिखने वाली गोपनीयता सूचना में ये संपर्क होते हैं। उसी पेज पर लोग अपना डेटा देख, सुधार और मिटा सकते हैं।',
  'Upcoming erasures': 'आगे मिटाया जाने वाला डेटा',
  'Retention periods': 'डेटा रखने की अवधि',
  'A legal hold is active: nothing is erased until it ends.': 'कानूनी रोक लागू है: उसके हटने तक कुछ भी मिटाया नहीं जाएगा।',
  'No people will be erased in the next {days} days.': 'अगले {days} दिनों में किसी व्यक्ति का डेटा मिटाया नहीं जाएगा।',
  '1 person will be erased on {date}.': '{date} को 1 व्यक्ति का डेटा मिटाया जाएगा।',
  '{count} people will be erased on {date}.': '{date} को {count} लोगों का डेटा मिटाया जाएगा।',
  '{count} more people will be erased later in this period.': 'इस अवधि में आगे {count} और लोगों का डेटा मिटाया जाएगा।',
  'Also erased in the next {days} days: messages of {conversations} candidates, answers of {answers} candidates, {mails} emails, {requestLog} entries of the request log, and personal values in {audit} entries of the audit log.':
    'अगले {days} दिनों में यह भी मिटाया जाएगा: {conversations} उम्मीदवारों के संदेश, {answers} उम्मीदवारों के जवाब, {mails} ईमेल, रिक्वेस्ट लॉग की {requestLog} प्रविष्टियाँ और ऑडिट लॉग की {audit} प्रविष्टियों की निजी जानकारी।',
  'Active since {time}: {reason}': '{time} से लागू: {reason}',
  'No legal hold. Data is erased at the end of its retention period.':
    'कोई कानूनी रोक नहीं है। डेटा रखने की अवधि पूरी होने पर डेटा मिटा दिया जाता है।',
  'Data whose retention period has already ended is erased within the next hour.':
    'जिस डेटा की अवधि पूरी हो चुकी है, उसे अगले एक घंटे में मिटा दिया जाएगा।',
  'No data is erased by retention periods until you end the hold. People can still erase their own data.':
    'जब तक आप रोक नहीं हटाते, अवधि पूरी होने पर भी डेटा मिटाया नहीं जाएगा। फिर भी लोग अपना डेटा खुद मिटा सकते हैं।',
  'Requests about personal data': 'निजी डेटा से जुड़े अनुरोध',
  'Requests, newest first': 'अनुरोध, सबसे नए पहले',
  'No requests yet. A request takes effect when the person confirms it with a code.':
    'अभी कोई अनुरोध नहीं है। व्यक्ति के कोड से पुष्टि करने पर अनुरोध लागू होता है।',
  Request: 'अनुरोध',
  Page: 'पेज',
  'Names and contact data': 'नाम और संपर्क जानकारी',
  'Personal values in the audit log': 'ऑडिट लॉग में निजी जानकारी',
  '{data}, in days': '{data}, दिनों में',
  '{description} {minDays} to {maxDays} days; default {defaultDays}.':
    '{description} {minDays} से {maxDays} दिन; डिफ़ॉल्ट {defaultDays}।',
  'Retention periods saved.': 'डेटा रखने की अवधि सहेजी गई।',
  'Save retention periods': 'डेटा रखने की अवधि सहेजें',
}
