# The registry file of targets: what nginx refuses to start with.
#
# The file may be written by another program, or shared by many hosts; what is
# wrong in it must be named as well as in nginx.conf: the file, the target, the
# key, and what was expected. There is a block for each message. Breaks when a
# check is lost, or when it is less strict than the one of the target block.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

run_tests();

__DATA__

=== TEST 1: no file
--- manager
        targets targets.json; # here
--- refused
targets file "{root}/conf/targets.json" cannot be opened (2: No such file or directory) in {here}



=== TEST 2: a path through a file
--- manager
        targets nginx.conf/targets.json; # here
--- refused
targets file "{root}/conf/nginx.conf/targets.json" cannot be opened (20: Not a directory) in {here}



=== TEST 3: a directory
--- manager
        targets ../html; # here
--- refused
targets file "{root}/conf/../html" is not a file in {here}



=== TEST 4: an empty path
--- manager
        targets ""; # here
--- refused
targets file "{root}/conf/" is not a file in {here}



=== TEST 5: a file that is too large
--- manager
        targets targets.json; # here
--- registry eval
' ' x (16 * 1024 * 1024 + 1)
--- refused
targets file "{root}/conf/targets.json" is larger than 16m in {here}



=== TEST 6: targets twice
--- manager
        targets targets.json;
        targets targets.json; # here
--- registry
{"targets":[]}
--- refused
"targets" directive is duplicate



=== TEST 7: targets: no argument
--- manager
        targets; # here
--- refused
invalid number of arguments in "targets" directive



=== TEST 8: targets: two arguments
--- manager
        targets a.json b.json; # here
--- refused
invalid number of arguments in "targets" directive



=== TEST 9: an empty file
--- manager
        targets targets.json; # here
--- registry eval
''
--- refused
targets file "{root}/conf/targets.json": an object was expected, not an empty document in {here}



=== TEST 10: only comments
--- manager
        targets targets.json; # here
--- registry
# targets will come

--- refused
targets file "{root}/conf/targets.json": malformed JSON at byte 20: parse error: premature EOF in {here}



=== TEST 11: an array
--- manager
        targets targets.json; # here
--- registry
[]
--- refused
targets file "{root}/conf/targets.json": an object was expected in {here}



=== TEST 12: truncated
--- manager
        targets targets.json; # here
--- registry
{"targets":[
--- refused
targets file "{root}/conf/targets.json": malformed JSON at byte 13: parse error: premature EOF in {here}



=== TEST 13: a comma too many
--- manager
        targets targets.json; # here
--- registry
{"targets":[
    {"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"},
]}
--- refused
targets file "{root}/conf/targets.json": malformed JSON at byte {any} in {here}



=== TEST 14: something after the object
--- manager
        targets targets.json; # here
--- registry
{"targets":[]}
}
--- refused
targets file "{root}/conf/targets.json": malformed JSON at byte {any}: parse error: trailing garbage in {here}



=== TEST 15: a comment after a value
--- manager
        targets targets.json; # here
--- registry
{"targets":[] # none
}
--- refused
targets file "{root}/conf/targets.json": malformed JSON at byte {any} in {here}



=== TEST 16: invalid UTF-8
--- manager
        targets targets.json; # here
--- registry eval
"{\"targets\":[\"\xff\"]}"
--- refused
targets file "{root}/conf/targets.json": invalid UTF-8 at byte 13 in {here}



=== TEST 17: no targets
--- manager
        targets targets.json; # here
--- registry
{}
--- refused
targets file "{root}/conf/targets.json": "targets" is missing in {here}



=== TEST 18: targets that are no array
--- manager
        targets targets.json; # here
--- registry
{"targets":{}}
--- refused
targets file "{root}/conf/targets.json": "targets" must be an array in {here}



=== TEST 19: an unknown key
--- manager
        targets targets.json; # here
--- registry
{"version":1,"targets":[]}
--- refused
targets file "{root}/conf/targets.json": unknown key "version" in {here}



=== TEST 20: targets twice in the file
--- manager
        targets targets.json; # here
--- registry
{"targets":[],"targets":[]}
--- refused
targets file "{root}/conf/targets.json": duplicate key "targets" in {here}



=== TEST 21: too deep
--- manager
        targets targets.json; # here
--- registry eval
'{"targets":' . '[' x 200 . ']' x 200 . '}'
--- refused
targets file "{root}/conf/targets.json": nested deeper than 128 levels in {here}



=== TEST 22: no target in it, nor beside it
--- http_config
    submission_manager main {
        targets targets.json;
    } # here
--- registry
{"targets":[]}
--- refused
submission_manager "main" has no target: a "target" block or a "targets" file was expected



=== TEST 23: a target that is no object
--- manager
        targets targets.json; # here
--- registry
{"targets":["x"]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: an object was expected in {here}



=== TEST 24: the third target
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"a","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"},
{"submissionTarget":"b","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"},
7]}
--- refused
targets file "{root}/conf/targets.json": targets[2]: an object was expected in {here}



=== TEST 25: no submissionTarget
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "submissionTarget" is missing in {here}



=== TEST 26: submissionTarget is no string
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":1,"gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "submissionTarget" must be a string in {here}



=== TEST 27: no gatewayType
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayUrl":"http://gateway","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "gatewayType" is missing in {here}



=== TEST 28: gatewayType is no string
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":1,"gatewayUrl":"http://gateway","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "gatewayType" must be a string in {here}



=== TEST 29: no gatewayUrl
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "gatewayUrl" is missing in {here}



=== TEST 30: gatewayUrl is no string
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":1,"policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "gatewayUrl" must be a string in {here}



=== TEST 31: no policy
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "policy" is missing in {here}



=== TEST 32: policy is no string
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":1}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "policy" must be a string in {here}



=== TEST 33: an unknown key in a target
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot","retryDelay":5}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: unknown key "retryDelay" in {here}



=== TEST 34: a key of a target twice
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"policy":"one_shot","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: duplicate key "policy" in {here}



=== TEST 35: maxAcceptanceSeconds is a string
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot","maxAcceptanceSeconds":"30"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAcceptanceSeconds" must be a number in {here}



=== TEST 36: maxAttempts is a string
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot","maxAttempts":"30"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAttempts" must be a number in {here}



=== TEST 37: terminalOutcomes is a string
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot","terminalOutcomes":"invalid_request"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "terminalOutcomes" must be an array in {here}



=== TEST 38: a lone surrogate
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"\ud83d","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: a string at byte 20 has a lone surrogate in {here}



=== TEST 39: an unknown gatewayType
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"mail","gatewayUrl":"http://gateway","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "gatewayType" must be "sms", "push" or "http" in {here}



=== TEST 40: an unknown policy
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"forever"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "policy" must be "deadline", "max_attempts" or "one_shot" in {here}



=== TEST 41: deadline without maxAcceptanceSeconds
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"deadline"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAcceptanceSeconds" is missing: the policy needs it in {here}



=== TEST 42: max_attempts without maxAttempts
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"max_attempts"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAttempts" is missing: the policy needs it in {here}



=== TEST 43: one_shot with maxAttempts
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot","maxAttempts":1}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAttempts" does not go with the policy in {here}



=== TEST 44: one_shot with maxAcceptanceSeconds
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot","maxAcceptanceSeconds":1}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAcceptanceSeconds" does not go with the policy in {here}



=== TEST 45: deadline with maxAttempts, too
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"deadline","maxAcceptanceSeconds":30,"maxAttempts":3}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAttempts" does not go with the policy in {here}



=== TEST 46: max_attempts with maxAcceptanceSeconds, too
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"max_attempts","maxAcceptanceSeconds":30,"maxAttempts":3}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAcceptanceSeconds" does not go with the policy in {here}



=== TEST 47: maxAcceptanceSeconds of 0
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"deadline","maxAcceptanceSeconds":0}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAcceptanceSeconds" must be a whole number from 1 to 31536000 in {here}



=== TEST 48: maxAcceptanceSeconds of 31536001
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"deadline","maxAcceptanceSeconds":31536001}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAcceptanceSeconds" must be a whole number from 1 to 31536000 in {here}



=== TEST 49: maxAcceptanceSeconds of -1
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"deadline","maxAcceptanceSeconds":-1}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAcceptanceSeconds" must be a whole number from 1 to 31536000 in {here}



=== TEST 50: maxAcceptanceSeconds of 1.5
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"deadline","maxAcceptanceSeconds":1.5}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAcceptanceSeconds" must be a whole number from 1 to 31536000 in {here}



=== TEST 51: maxAcceptanceSeconds of 1e2
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"deadline","maxAcceptanceSeconds":1e2}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAcceptanceSeconds" must be a whole number from 1 to 31536000 in {here}



=== TEST 52: maxAcceptanceSeconds of 99999999999999999999
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"deadline","maxAcceptanceSeconds":99999999999999999999}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAcceptanceSeconds" must be a whole number from 1 to 31536000 in {here}



=== TEST 53: maxAttempts of 0
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"max_attempts","maxAttempts":0}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAttempts" must be a whole number from 1 to 1000000 in {here}



=== TEST 54: maxAttempts of 1000001
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"max_attempts","maxAttempts":1000001}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAttempts" must be a whole number from 1 to 1000000 in {here}



=== TEST 55: maxAttempts of -1
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"max_attempts","maxAttempts":-1}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAttempts" must be a whole number from 1 to 1000000 in {here}



=== TEST 56: maxAttempts of 2.0
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"max_attempts","maxAttempts":2.0}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "maxAttempts" must be a whole number from 1 to 1000000 in {here}



=== TEST 57: terminalOutcomes: a number
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot","terminalOutcomes":[1]}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "terminalOutcomes" must be an array of words in {here}



=== TEST 58: terminalOutcomes: an empty word
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot","terminalOutcomes":["invalid_request",""]}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "terminalOutcomes" must be an array of words in {here}



=== TEST 59: terminalOutcomes: two words in one
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot","terminalOutcomes":["invalid_request invalid_message"]}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "terminalOutcomes" must be an array of words in {here}



=== TEST 60: terminalOutcomes: an array in it
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot","terminalOutcomes":[["invalid_request"]]}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: "terminalOutcomes" must be an array of words in {here}



=== TEST 61: terminalOutcomes: of another gateway type
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot","terminalOutcomes":["invalid_request","invalid_token"]}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: terminal outcome "invalid_token" is not of gateway type "sms": "invalid_request", "invalid_recipient" or "invalid_message" was expected in {here}



=== TEST 62: terminalOutcomes: of no gateway type, for http
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"http","gatewayUrl":"http://gateway","policy":"one_shot","terminalOutcomes":["http_429"]}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: terminal outcome "http_429" is not of gateway type "http": "http_400" to "http_499", except 408, 425 and 429 was expected in {here}



=== TEST 63: terminalOutcomes: too many
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot","terminalOutcomes":["invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient","invalid_recipient"]}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: the list of terminal outcomes is longer than 1000 bytes in {here}



=== TEST 64: an empty name
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: the target's name must not be empty in {here}



=== TEST 65: a name that is too long
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"жжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжж","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: the target's name must not be longer than 128 characters in {here}



=== TEST 66: a name with a space
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"a b","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: the target's name must not contain spaces or control characters in {here}



=== TEST 67: a name with a NUL
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"a\u0000","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: the target's name must not contain spaces or control characters in {here}



=== TEST 68: a URL without a scheme
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"gateway:9090","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: the gateway URL must be "http://host..." or "https://host..." in {here}



=== TEST 69: a URL without a host
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://:9090","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: the gateway URL must name a host in {here}



=== TEST 70: a URL with a query
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway/?a","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: the gateway URL must be of plain URL characters, without query or fragment in {here}



=== TEST 71: a URL with a NUL
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway\u0000","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: the gateway URL must be of plain URL characters, without query or fragment in {here}



=== TEST 72: a URL that is too long
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","policy":"one_shot"}]}
--- refused
targets file "{root}/conf/targets.json": targets[0]: the gateway URL must not be longer than 1024 bytes in {here}



=== TEST 73: a target twice in the file
--- manager
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"},{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"}]}
--- refused
duplicate target "x" in {here}



=== TEST 74: a target in a block and then in the file
--- manager
        target x {
            gateway_type sms;
            gateway_url http://gateway;
            policy one_shot;
        }
        targets targets.json; # here
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"}]}
--- refused
duplicate target "x" in {here}



=== TEST 75: a target in the file and then in a block
--- manager
        targets targets.json;
        target x { # here
            gateway_type sms;
            gateway_url http://gateway;
            policy one_shot;
        }
--- registry
{"targets":[{"submissionTarget":"x","gatewayType":"sms","gatewayUrl":"http://gateway","policy":"one_shot"}]}
--- refused
duplicate target "x" in {here}
